#include "cli/stacks/stack_texts.hpp"

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

PeStacks python_stacks(const std::string& written) {
    PeStacks stacks;
    std::istringstream lines(written);
    std::string installed_site, standard_site;
    std::vector<std::vector<std::string>> threads(1);  // the first has lines before all threads
    std::size_t current = 0;
    bool is_innermost = false;  // the next line is the innermost frame of the current thread
    bool is_current = false, is_in_pool = false, is_called = false;  // by the pool
    for (std::string line; std::getline(lines, line);) {
        if (line.empty()) continue;
        if (line[0] != ' ') {
            is_current = is_innermost = line.starts_with("Current thread");
            threads.emplace_back();
            if (is_current) current = threads.size() - 1;
        } else if (std::exchange(is_innermost, false)) {
            stacks.is_in_torch = line.find("-packages/torch/") != std::string::npos;
        }
        const std::string site = python_site(line);
        const bool is_ours = line.find("/atoll/") != std::string::npos;
        const bool is_command = line.find("\"<string>\"") != std::string::npos;  // python -c
        if (is_current && is_ours && line.find("/atoll/_pool/pe.py\"") != std::string::npos) {
            is_in_pool = true;
            is_called = is_called || line.ends_with(" in call");
        }
        std::string& found = is_standard(line)    ? standard_site
                             : is_installed(line) ? installed_site
                                                  : stacks.site;
        if (is_current && !is_ours && found.empty() && !(is_command && is_in_pool)) found = site;
        if (&found == &stacks.site && !site.empty() && !is_ours && !(is_command && is_in_pool))
            threads.back().push_back(python_frame(line, site));
        stacks.text += "  " + line + "\n";
    }
    std::swap(threads.front(), threads[current]);
    for (std::size_t i = 0; i < threads.size(); ++i)
        if (i == 0 || !threads[i].empty()) stacks.program.push_back(std::move(threads[i]));
    if (stacks.site.empty()) stacks.site = installed_site;
    if (stacks.site.empty())
        stacks.site = is_in_pool && !is_called ? std::string(common::idle_in_pool) : standard_site;
    return stacks;
}

}  // namespace atl::cli
