#include "cli/stacks/stack_texts.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/board/beside_gpu.hpp"
#include "common/elf/elf_lines.hpp"
#include "common/elf/elf_symbols.hpp"
#include "common/text.hpp"

namespace atl::cli {

using common::file_name;

bool is_system(const std::string& path) {
    const std::string name(file_name(path));
    return name.starts_with("libc.") || name.starts_with("libc-") || name.starts_with("ld-") ||
           name.starts_with("libpthread") || name.starts_with("libgcc_s") || name.starts_with("libstdc++");
}

/// True for Python's executable and library, which have faulthandler.
bool is_python(const std::string& path) {
    const std::string_view name = file_name(path);
    return name.starts_with("python") || name.starts_with("libpython");
}

namespace {

bool is_of_headers(std::string_view directory, std::string_view name) {
    const std::string path = std::string(directory) + "/" + std::string(name);
    return path.find("include/atoll/") != std::string::npos ||
           path.find("include/c++/") != std::string::npos || path.starts_with("/usr/include/");
}

bool skips_none(std::string_view, std::string_view) { return false; }

}  // namespace

NamedFrame named_frame(const std::string& path, std::uint64_t offset, Lines lines) {
    NamedFrame frame;
    const std::string_view name = file_name(path);
    frame.is_program = !is_system(path) && !name.starts_with("libatoll") && !name.starts_with("_atoll.");
    char hex[32];
    std::snprintf(hex, sizeof hex, "+0x%" PRIx64, offset);
    frame.file = file_name(path);
    frame.text = frame.file + hex;
    if (const auto symbol = common::nearest_symbol(path.c_str(), offset)) {
        frame.file.clear();
        frame.text = symbol->name + " (" + std::string(file_name(path)) + ")";
        const common::SourceLine line = common::source_line(
            path.c_str(), offset, symbol->offset, lines == Lines::of_program ? is_of_headers : skips_none);
        frame.line = line.text;
        if (!line.text.empty())
            frame.text = symbol->name + " at " + line.text;
        else if (lines == Lines::of_program)
            frame.is_of_headers =
                !common::source_line(path.c_str(), offset, symbol->offset, skips_none).text.empty();
    }
    return frame;
}

namespace {

bool is_installed(std::string_view line) {
    return line.find("/site-packages/") != std::string_view::npos ||
           line.find("/dist-packages/") != std::string_view::npos;
}

/// A line of Python's traceback: `  File "solver.py", line 61 in step`.
std::string python_site(const std::string& line) {
    char file[512];
    int number = 0;
    if (std::sscanf(line.c_str(), " File \"%511[^\"]\", line %d", file, &number) != 2) return {};
    return std::string(file_name(file)) + ":" + std::to_string(number);
}

/// The same line as a report has it: "step at solver.py:61", and "solver.py:70" at the outermost level.
std::string python_frame(const std::string& line, const std::string& site) {
    constexpr std::string_view in = " in ";
    const std::size_t at = line.rfind(in);
    const bool is_named = at != std::string::npos && line.find('<', at) == std::string::npos;
    return is_named ? line.substr(at + in.size()) + " at " + site : site;
}

/// True for a line of a file of Python's standard library: its folder is ".../lib/python3.12", or it is
/// frozen.
bool is_standard(std::string_view line) {
    constexpr std::string_view folder = "/python3.";
    if (line.find("\"<frozen") != std::string_view::npos) return true;
    if (is_installed(line)) return false;
    const std::size_t at = line.find(folder);
    if (at == std::string_view::npos) return false;
    const std::string_view behind = line.substr(at + folder.size());
    const std::size_t digits = behind.find_first_not_of("0123456789");
    return digits != 0 && digits != std::string_view::npos &&
           (behind[digits] == '/' || behind[digits] == 't');
}

}  // namespace

namespace {

/// Reads Python's text, a line at a time.
class PythonReader {
  public:
    void read(const std::string& line) {
        if (line.empty()) return;
        stacks_.text += "  " + line + "\n";
        if (line[0] != ' ')
            begin(line);
        else
            add(line);
    }

    PeStacks take() {
        std::vector<ProgramStack>& all = stacks_.program;
        std::stable_partition(all.begin(), all.end(),
                              [](const ProgramStack& one) { return one.label.empty(); });
        ProgramStack& main = main_stack();
        if (stacks_.is_in_loop && !awaited_.empty()) {
            stacks_.site = awaited_site_;
            main.frames.insert(main.frames.begin(), awaited_.begin(), awaited_.end());
        }
        std::erase_if(all, [](const ProgramStack& one) { return one.frames.empty() && !one.label.empty(); });
        number_alike();
        if (stacks_.site.empty()) stacks_.site = installed_site_;
        if (stacks_.site.empty())
            stacks_.site = is_in_pool_ && !is_called_ ? std::string(common::idle_in_pool) : standard_site_;
        return std::move(stacks_);
    }

  private:
    /// The heading of a thread, or of a task of an event loop.
    void begin(const std::string& line) {
        constexpr std::string_view awaited = "Awaited task ", task = "Task ";
        is_current_ = is_innermost_ = line.starts_with("Current thread");
        is_awaited_ = line.starts_with(awaited);
        const bool is_task = line.starts_with(task);
        if (is_awaited_) return;
        const std::string name = line.substr(0, line.find(" ("));
        stacks_.program.push_back({is_current_ ? ""
                                   : is_task   ? "task " + name.substr(task.size())
                                               : "another thread",
                                   {}});
    }

    void add(const std::string& line) {
        if (std::exchange(is_innermost_, false))
            stacks_.is_in_torch = line.find("-packages/torch/") != std::string::npos;
        const std::string site = python_site(line);
        const bool is_ours = line.find("/atoll/") != std::string::npos;
        const bool is_command = line.find("\"<string>\"") != std::string::npos;  // python -c
        if (is_current_ && is_ours && line.find("/atoll/_pool/pe.py\"") != std::string::npos) {
            is_in_pool_ = true;
            is_called_ = is_called_ || line.ends_with(" in call");
        }
        const bool is_of_program = !is_standard(line) && !is_installed(line) && !is_ours && !site.empty() &&
                                   !(is_command && is_in_pool_);
        if (is_current_) {
            std::string& found = is_standard(line)    ? standard_site_
                                 : is_installed(line) ? installed_site_
                                                      : stacks_.site;
            if (stacks_.site.empty() && line.find("/asyncio/") != std::string::npos)
                stacks_.is_in_loop = true;
            if (!is_ours && found.empty() && !(is_command && is_in_pool_)) found = site;
        }
        if (!is_of_program) return;
        if (is_awaited_) {
            if (awaited_.empty()) awaited_site_ = site;
            awaited_.push_back(python_frame(line, site));
        } else if (!stacks_.program.empty()) {
            stacks_.program.back().frames.push_back(python_frame(line, site));
        }
    }

    ProgramStack& main_stack() {
        std::vector<ProgramStack>& all = stacks_.program;
        if (all.empty() || !all.front().label.empty()) all.insert(all.begin(), ProgramStack{});
        return all.front();
    }

    /// Keeps one of the tasks in the same place.
    void number_alike() {
        std::vector<ProgramStack> kept;
        std::vector<std::size_t> counts;
        for (ProgramStack& one : stacks_.program) {
            const auto same = std::find_if(kept.begin(), kept.end(), [&](const ProgramStack& other) {
                return one.label.starts_with("task ") && other.label.starts_with("task ") &&
                       other.frames == one.frames;
            });
            if (same != kept.end()) {
                ++counts[static_cast<std::size_t>(same - kept.begin())];
                continue;
            }
            kept.push_back(std::move(one));
            counts.push_back(1);
        }
        for (std::size_t i = 0; i < kept.size(); ++i)
            if (counts[i] > 1) kept[i].label += " and " + std::to_string(counts[i] - 1) + " more";
        stacks_.program = std::move(kept);
    }

    PeStacks stacks_;
    std::string installed_site_, standard_site_, awaited_site_;
    std::vector<std::string> awaited_;  // frames of the task that the loop of the main thread runs
    bool is_innermost_ = false;         // the next line is the innermost frame of the current thread
    bool is_current_ = false, is_awaited_ = false, is_in_pool_ = false, is_called_ = false;  // by the pool
};

}  // namespace

PeStacks python_stacks(const std::string& written) {
    PythonReader reader;
    std::istringstream lines(written);
    for (std::string line; std::getline(lines, line);) reader.read(line);
    return reader.take();
}

}  // namespace atl::cli
