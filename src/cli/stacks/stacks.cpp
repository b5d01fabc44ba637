#include "cli/stacks/stacks.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "cli/stacks/file_locks.hpp"
#include "cli/stacks/stack_texts.hpp"
#include "common/board/beside_gpu.hpp"
#include "common/descriptors/fd.hpp"
#include "common/recorder/stack_area.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

using common::StackArea;

/// One mapped file of a process.
struct Object {
    std::uint64_t begin, end, base;  ///< `base` is the address of the file's start
    std::string path;
};

std::vector<Object> objects_of(int pid) {
    std::vector<Object> objects;
    std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
    std::uint64_t base = 0;
    std::string last;
    for (std::string line; std::getline(maps, line);) {
        Object one{};
        std::uint64_t offset = 0;
        int path_at = 0;
        if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &one.begin,
                        &one.end, &offset, &path_at) < 3)
            continue;
        one.path = path_at > 0 ? line.substr(static_cast<std::size_t>(path_at)) : "";
        if (one.path.empty() || one.path[0] != '/') continue;
        if (one.path != last) base = one.begin - offset;
        last = one.path;
        one.base = base;
        objects.push_back(one);
    }
    return objects;
}

const Object* object_of(const std::vector<Object>& objects, std::uint64_t address) {
    const auto object = std::find_if(objects.begin(), objects.end(), [&](const Object& one) {
        return address >= one.begin && address < one.end;
    });
    return object == objects.end() ? nullptr : &*object;
}

NamedFrame named(const std::vector<Object>& objects, std::uint64_t address, Lines lines) {
    const Object* object = object_of(objects, address);
    char hex[32];
    if (object == nullptr) {
        std::snprintf(hex, sizeof hex, "0x%" PRIx64, address);
        NamedFrame unknown;
        unknown.text = hex;
        return unknown;
    }
    return named_frame(object->path, address - object->base, lines);
}

/// Prints frames, one line for neighbours of one file that have no names.
class FramePrinter {
  public:
    explicit FramePrinter(std::string& text) : text_(text) {}

    void print(const NamedFrame& frame) {
        if (frame.file.empty() || frame.file != file_) flush();
        if (frame.file.empty()) {
            text_ += "    " + frame.text + "\n";
            return;
        }
        if (count_++ == 0) first_ = frame.text;
        file_ = frame.file;
    }

    /// Call after the last frame.
    void flush() {
        if (count_ > 0)
            text_ += "    " + first_ +
                     (count_ > 1 ? " and " + std::to_string(count_ - 1) + " more of this file" : "") + "\n";
        count_ = 0;
        file_.clear();
    }

  private:
    std::string& text_;
    std::string file_, first_;
    std::size_t count_ = 0;
};

/// The stacks that the signal handler wrote.
PeStacks native_stacks(const StackArea& area, int pid, StackDetail detail) {
    PeStacks stacks;
    stacks.program.emplace_back();
    const Lines lines = detail == StackDetail::all ? Lines::all : Lines::of_program;
    const std::vector<Object> objects = objects_of(pid);
    const std::size_t threads =
        std::min<std::size_t>(area.next.load(std::memory_order_acquire), StackArea::most_threads);
    for (std::size_t t = 0; t < threads; ++t) {
        const StackArea::Thread& thread = area.threads[t];
        const std::size_t frames =
            std::min<std::size_t>(thread.frames.load(std::memory_order_acquire), StackArea::most_frames);
        const std::int32_t id = thread.id.load(std::memory_order_relaxed);
        if (detail != StackDetail::all && id != pid) continue;
        stacks.text += "  thread " + std::to_string(id) + ":\n";
        FramePrinter printer(stacks.text);
        for (std::size_t i = 0; i < frames; ++i) {
            const std::uint64_t address = thread.addresses[i].load(std::memory_order_relaxed);
            // All but the first are return addresses; the byte before each belongs to the call instruction.
            NamedFrame frame = named(objects, i == 0 ? address : address - 1, lines);
            printer.print(frame);
            frame.is_program = frame.is_program && !frame.is_of_headers;
            if (id == pid && frame.is_program && stacks.site.empty()) stacks.site = frame.text;
            if (detail == StackDetail::site && !stacks.site.empty()) return stacks;
            if (id == pid && frame.is_program && frame.file.empty()) {
                stacks.program.front().push_back(frame.text);
                if (detail == StackDetail::program && frame.text.starts_with("main ")) return stacks;
            }
        }
        printer.flush();
    }
    return stacks;
}

struct Asked {
    int pe = -1;
    int pid = 0;
    std::uint32_t before = 0;
    common::Fd python;
    off_t python_from = 0;
    std::string refusal;
};

/// True if the process has a handler of the signal, which would end it else.
bool handles(int pid, int signal) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    constexpr std::string_view name = "SigCgt:";
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(name))
            return (std::strtoull(line.c_str() + name.size(), nullptr, 16) >> (signal - 1) & 1) != 0;
    return false;
}

Asked ask(const common::BoardView& board, int pe) {
    Asked asked;
    asked.pe = pe;
    StackArea& area = board.stacks(pe);
    asked.pid = board.entry(pe).pid.load(std::memory_order_acquire);
    const int number = area.signal.load(std::memory_order_acquire);
    const common::PeDoing doing = board.doing(pe, false);
    if (doing.state != common::PeState::running)
        asked.refusal = common::state_text(doing.state);
    else if (doing.process == 'T')
        asked.refusal = "stopped: kill -CONT " + std::to_string(asked.pid) + " lets it go on";
    else if (number == 0 || asked.pid <= 0)
        asked.refusal = "offers no stack: the program handles signal " + std::to_string(SIGRTMAX - 3) +
                        " itself, or the launcher did not start it";
    else if (!handles(asked.pid, number))
        asked.refusal = "offers no stack: the process has become another program";
    if (!asked.refusal.empty()) return asked;
    if (const int fd = area.python.load(std::memory_order_acquire) - 1; fd >= 0) {
        const std::string path = "/proc/" + std::to_string(asked.pid) + "/fd/" + std::to_string(fd);
        asked.python = common::Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        struct stat status {};
        if (asked.python && fstat(asked.python.get(), &status) == 0) asked.python_from = status.st_size;
    }
    asked.before = area.answers.load(std::memory_order_acquire);
    area.next.store(0, std::memory_order_release);
    if (kill(asked.pid, number) != 0) asked.refusal = std::string("cannot be asked: ") + std::strerror(errno);
    return asked;
}

std::string written_since(const Asked& asked) {
    std::string text;
    char buffer[4096];
    for (off_t at = asked.python_from;;) {
        const ssize_t n = pread(asked.python.get(), buffer, sizeof buffer, at);
        if (n <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(n));
        at += n;
    }
}

}  // namespace

std::vector<PeStacks> read_stacks(const common::BoardView& board, const std::vector<int>& pes,
                                  double patience_s, StackDetail detail) {
    using Clock = std::chrono::steady_clock;
    std::vector<Asked> asked;
    for (const int pe : pes) asked.push_back(ask(board, pe));
    const auto end = Clock::now() + std::chrono::duration<double>(patience_s);
    const auto is_silent = [&](const Asked& one) {
        return one.refusal.empty() &&
               board.stacks(one.pe).answers.load(std::memory_order_acquire) == one.before;
    };
    while (std::any_of(asked.begin(), asked.end(), is_silent) && Clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::vector<PeStacks> all;
    for (const Asked& one : asked) {
        PeStacks& stacks = all.emplace_back();
        if (!one.refusal.empty())
            stacks.text = "  " + one.refusal + "\n";
        else if (is_silent(one))
            stacks.text = "  does not answer: it blocks signals, or runs too rarely\n";
        else {
            if (one.python) stacks = python_stacks(written_since(one));
            if (detail != StackDetail::all && !stacks.site.empty()) continue;
            PeStacks native = native_stacks(board.stacks(one.pe), one.pid, detail);
            stacks.text += native.text;
            if (stacks.site.empty()) stacks.site = native.site;
            if (stacks.program.empty()) stacks.program = std::move(native.program);
        }
    }
    return all;
}

namespace {

/// Samples all PEs, and repeats while a wait has only just begun. On a busy machine its PE may notice late
/// that the wait is over. Waits of different moments would look like PEs that wait for each other.
std::vector<common::PeDoing> settled(const common::BoardView& board) {
    constexpr double moment_s = 1;
    constexpr int most_samples = 4;
    constexpr auto between = std::chrono::milliseconds(150);
    std::vector<common::PeDoing> doing = board.all_doing();
    for (int sample = 1; sample < most_samples; ++sample) {
        const auto is_young = [&](const common::PeDoing& one) { return one.waits && one.seconds < moment_s; };
        if (std::none_of(doing.begin(), doing.end(), is_young)) break;
        std::this_thread::sleep_for(between);
        std::vector<common::PeDoing> now = board.all_doing();
        bool any = false;
        for (std::size_t pe = 0; pe < now.size(); ++pe) {
            now[pe].moves = now[pe].waits && (!doing[pe].waits || doing[pe].mark != now[pe].mark);
            any = any || now[pe].moves;
        }
        doing = std::move(now);
        if (!any) break;
    }
    return doing;
}

/// The name of an address in the program of a process; empty for one outside.
std::string line_of_program(const std::vector<Object>& objects, std::uint64_t returns_to) {
    const NamedFrame frame = named(objects, returns_to - 1, Lines::of_program);
    if (!frame.is_program || frame.is_of_headers) return {};
    return frame.line.empty() ? frame.text : frame.line;
}

/// Names the places in C and C++ where PEs have acquired locks for which others wait.
void name_holders(std::vector<common::PeDoing>& doing) {
    for (common::PeDoing& one : doing) {
        for (common::HeldSeen& held : one.held) {
            const bool is_awaited = std::any_of(doing.begin(), doing.end(), [&](const auto& other) {
                return other.waits && other.wait.offset == held.offset;
            });
            if (is_awaited && held.site.empty() && held.caller != 0)
                held.site = line_of_program(objects_of(one.pid), held.caller);
        }
    }
}

/// Names the places in C and C++ where PEs have updated the arrays that have awaited words.
void name_updates(std::vector<common::PeDoing>& doing) {
    const auto is_awaited = [&](std::uint64_t offset) {
        return std::any_of(doing.begin(), doing.end(), [&](const common::PeDoing& one) {
            return one.waits && one.wait.word_bytes != 0 &&
                   (offset == one.wait.offset || offset - one.wait.block_begin < one.wait.block_bytes);
        });
    };
    for (common::PeDoing& one : doing) {
        std::vector<Object> objects;
        std::map<std::uint64_t, std::string> known;  // by the first caller
        const auto name = [&](common::UpdateSeen& seen) {
            if (seen.site.callers[0] == 0 || !is_awaited(seen.offset)) return;
            if (objects.empty()) objects = objects_of(one.pid);
            std::string& line = known[seen.site.callers[0]];
            for (const std::uint64_t caller : seen.site.callers)
                if (line.empty() && caller != 0) line = line_of_program(objects, caller);
            common::copy_text(line, seen.site.text);
        };
        std::for_each(one.signals.begin(), one.signals.end(), name);
        std::for_each(one.writes.begin(), one.writes.end(), name);
    }
}

bool shows_poll(const common::PeDoing& one) { return one.waits && one.polls && one.wait.site[0] != '\0'; }

/// PEs that have been asked for their stacks and only poll a word show that soon. They then count as waiting.
void show_polls(const common::BoardView& board, const std::vector<int>& asked,
                std::vector<common::PeDoing>& doing) {
    constexpr int most_checks = 20;
    constexpr auto between = std::chrono::milliseconds(10);
    for (int check = 0; check < most_checks; ++check) {
        bool all_poll = true;
        for (const int pe : asked) {
            common::PeDoing& one = doing[static_cast<std::size_t>(pe)];
            if (one.waits) continue;
            if (shows_poll(board.doing(pe, false)))
                if (common::PeDoing now = board.doing(pe); shows_poll(now)) one = std::move(now);
            all_poll = all_poll && one.waits;
        }
        if (all_poll) return;
        std::this_thread::sleep_for(between);
    }
}

/// PyTorch waits for the pending operation, in its own code: for a future of DDP, for example.
void show_waiting(common::PeDoing& one, const std::string& site) {
    one.waits = true;
    one.pends = false;
    common::copy_text(common::file_name(site), one.wait.site);
    one.text = common::wait_text(one.wait,
                                 one.wait.peer >= 0 ? std::vector<int>{one.wait.peer} : std::vector<int>());
}

}  // namespace

std::vector<common::PeDoing> doing_with_sites(const common::BoardView& board, std::size_t most) {
    std::vector<common::PeDoing> doing = settled(board);
    std::vector<int> elsewhere;
    for (std::size_t pe = 0; pe < doing.size(); ++pe)
        if (may_answer(doing[pe]) && !doing[pe].waits) elsewhere.push_back(static_cast<int>(pe));
    if (elsewhere.size() > most) elsewhere.resize(most);
    constexpr double patience_s = 0.3;
    const std::vector<PeStacks> stacks = read_stacks(board, elsewhere, patience_s, StackDetail::site);
    for (std::size_t i = 0; i < elsewhere.size(); ++i) {
        common::PeDoing& one = doing[static_cast<std::size_t>(elsewhere[i])];
        if (one.pends && stacks[i].is_in_torch)
            show_waiting(one, stacks[i].site);
        else
            one.site = stacks[i].site;
    }
    show_polls(board, elsewhere, doing);
    name_holders(doing);
    name_updates(doing);
    name_file_locks(doing);
    return doing;
}

}  // namespace atl::cli
