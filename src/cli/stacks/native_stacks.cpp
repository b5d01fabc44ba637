#include "cli/stacks/native_stacks.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace atl::cli {

using common::StackArea;

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

namespace {

const Object* object_of(const std::vector<Object>& objects, std::uint64_t address) {
    const auto object = std::find_if(objects.begin(), objects.end(), [&](const Object& one) {
        return address >= one.begin && address < one.end;
    });
    return object == objects.end() ? nullptr : &*object;
}

NamedFrame named_in(const Object* object, std::uint64_t address, Lines lines) {
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

/// Reads the stacks that the signal handler wrote.
class NativeReader {
  public:
    NativeReader(const StackArea& area, int pid, StackDetail detail)
        : area_(area),
          pid_(pid),
          detail_(detail),
          lines_(detail == StackDetail::all ? Lines::all : Lines::of_program),
          objects_(objects_of(pid)),
          program_(executable_of(pid)) {}

    PeStacks read() {
        stacks_.program.emplace_back();
        const std::size_t written = area_.next.load(std::memory_order_acquire);
        const std::size_t threads = std::min<std::size_t>(written, StackArea::most_threads);
        for (std::size_t t = 0; t < threads; ++t) {
            const StackArea::Thread& thread = area_.threads[t];
            const bool is_main = thread.id.load(std::memory_order_relaxed) == pid_;
            if (is_main)
                read_main(thread);
            else if (detail_ != StackDetail::site)
                read_other(thread);
        }
        if (written > threads)
            stacks_.text += "  and " + std::to_string(written - threads) + " more threads\n";
        return std::move(stacks_);
    }

  private:
    static std::string executable_of(int pid) {
        std::error_code failed;
        return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", failed);
    }

    void read_main(const StackArea::Thread& thread) {
        Frames frames(*this, thread, "");
        std::vector<std::string>& its = stacks_.program.front().frames;
        for (NamedFrame frame; frames.next(frame);) {
            frame.is_program = frame.is_program && !frame.is_of_headers;
            if (frame.is_program && stacks_.site.empty()) stacks_.site = frame.text;
            if (detail_ == StackDetail::site && !stacks_.site.empty()) return;
            if (!frame.is_program || !frame.file.empty()) continue;
            its.push_back(frame.text);
            if (detail_ == StackDetail::program && frame.text.starts_with("main ")) return;
        }
    }

    /// Threads of libraries, as of OpenBLAS, have no frame of the program.
    void read_other(const StackArea::Thread& thread) {
        const std::int32_t id = thread.id.load(std::memory_order_relaxed);
        const std::string task = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(id);
        std::string name;
        std::getline(std::ifstream(task + "/comm"), name);
        ProgramStack stack{"another thread", {}};
        bool is_program = false;
        Frames frames(*this, thread, name);
        for (NamedFrame frame; frames.next(frame);) {
            if (!frame.is_program || frame.is_of_headers || !frame.file.empty()) continue;
            is_program = is_program || !frame.line.empty() || frames.path() == program_;
            stack.frames.push_back(frame.text);
        }
        if (is_program) stacks_.program.push_back(std::move(stack));
    }

    /// The frames of a thread, which become text as they are read.
    class Frames {
      public:
        Frames(NativeReader& reader, const StackArea::Thread& thread, const std::string& name)
            : reader_(reader), thread_(thread), printer_(reader.stacks_.text) {
            reader.stacks_.text += "  thread " + std::to_string(thread.id.load(std::memory_order_relaxed)) +
                                   (name.empty() ? "" : " (" + name + ")") + ":\n";
            count_ =
                std::min<std::size_t>(thread.frames.load(std::memory_order_acquire), StackArea::most_frames);
        }
        Frames(const Frames&) = delete;
        Frames& operator=(const Frames&) = delete;
        ~Frames() { printer_.flush(); }

        bool next(NamedFrame& frame) {
            if (at_ == count_) return false;
            // All but the first are return addresses; the byte before each belongs to the call instruction.
            const std::uint64_t address =
                thread_.addresses[at_].load(std::memory_order_relaxed) - (at_ == 0 ? 0 : 1);
            ++at_;
            const Object* const object = object_of(reader_.objects_, address);
            path_ = object == nullptr ? "" : object->path;
            frame = named_in(object, address, reader_.lines_);
            printer_.print(frame);
            return true;
        }
        const std::string& path() const { return path_; }  ///< the file of the last frame

      private:
        NativeReader& reader_;
        const StackArea::Thread& thread_;
        FramePrinter printer_;
        std::string path_;
        std::size_t at_ = 0, count_ = 0;
    };

    const StackArea& area_;
    int pid_;
    StackDetail detail_;
    Lines lines_;
    std::vector<Object> objects_;
    std::string program_;
    PeStacks stacks_;
};

}  // namespace

NamedFrame named(const std::vector<Object>& objects, std::uint64_t address, Lines lines) {
    return named_in(object_of(objects, address), address, lines);
}

PeStacks native_stacks(const StackArea& area, int pid, StackDetail detail) {
    return NativeReader(area, pid, detail).read();
}

}  // namespace atl::cli
