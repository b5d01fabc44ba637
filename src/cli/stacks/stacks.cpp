#include "cli/stacks/stacks.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "cli/stacks/file_locks.hpp"
#include "cli/stacks/native_stacks.hpp"
#include "cli/stacks/stack_texts.hpp"
#include "common/board/beside_gpu.hpp"
#include "common/descriptors/fd.hpp"
#include "common/recorder/stack_area.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

using common::StackArea;

struct Asked {
    int pe = -1;
    int pid = 0;
    std::uint32_t before = 0, tasks_before = 0;
    std::uint32_t expected = 1;  ///< answers
    bool has_tasks = false;
    common::Fd python;
    off_t python_from = 0;
    std::string refusal;
};

/// A set of signals in a file of /proc such as /proc/1/status: "SigCgt:".
std::uint64_t signals_in(const std::string& path, std::string_view name) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 16);
    return 0;
}

bool has_signal(std::uint64_t set, int signal) { return (set >> (signal - 1) & 1) != 0; }

/// True if the process has a handler of the signal, which would end it else.
bool handles(int pid, int signal) {
    return has_signal(signals_in("/proc/" + std::to_string(pid) + "/status", "SigCgt:"), signal);
}

/// Asks the threads of a process other than its first, and returns their number. Threads of Atoll block
/// signals.
std::uint32_t ask_threads(int pid, int number) {
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    std::uint32_t asked = 0;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(tasks, failed)) {
        const int thread = std::atoi(entry.path().filename().c_str());
        if (thread == pid || asked + 1 >= StackArea::most_threads) continue;
        if (has_signal(signals_in(entry.path() / "status", "SigBlk:"), number)) continue;
        siginfo_t info{};
        info.si_signo = number;
        info.si_code = SI_QUEUE;
        info.si_pid = ::getpid();
        info.si_uid = ::getuid();
        info.si_value.sival_int = common::one_thread;
        if (::syscall(SYS_rt_tgsigqueueinfo, pid, thread, number, &info) == 0) ++asked;
    }
    return asked;
}

Asked ask(const common::BoardView& board, int pe, StackDetail detail) {
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
    asked.has_tasks = area.has_tasks.load(std::memory_order_acquire) != 0;
    asked.tasks_before = area.task_answers.load(std::memory_order_acquire);
    if (kill(asked.pid, number) != 0) asked.refusal = std::string("cannot be asked: ") + std::strerror(errno);
    // Python writes the stacks of all its threads at once.
    const bool asks_all = detail == StackDetail::all || (detail == StackDetail::program && !asked.python);
    if (asked.refusal.empty() && asks_all) asked.expected += ask_threads(asked.pid, number);
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
    for (const int pe : pes) asked.push_back(ask(board, pe, detail));
    const auto begin = Clock::now();
    const auto answers_to = [&](const Asked& one) {
        return board.stacks(one.pe).answers.load(std::memory_order_acquire) - one.before;
    };
    const auto is_silent = [&](const Asked& one) { return one.refusal.empty() && answers_to(one) == 0; };
    const auto lacks_answers = [&](const Asked& one) {
        return one.refusal.empty() && answers_to(one) < one.expected;
    };
    const auto lacks_tasks = [&](const Asked& one) {
        return one.has_tasks && one.refusal.empty() &&
               board.stacks(one.pe).task_answers.load(std::memory_order_acquire) == one.tasks_before;
    };
    const auto wait_while = [&](const auto& lacks, double seconds) {
        const auto end = begin + std::chrono::duration<double>(seconds);
        while (std::any_of(asked.begin(), asked.end(), lacks) && Clock::now() < end)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    wait_while(lacks_answers, patience_s);
    // A PE in a call that keeps the GIL writes no tasks.
    wait_while(lacks_tasks, patience_s);
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
