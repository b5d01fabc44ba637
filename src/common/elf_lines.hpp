// The line table of an executable or shared object that was compiled with -g: DWARF's .debug_line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace atl::common {

struct SourceLine {
    std::string text;  ///< "solver.c:12"; empty where it is not known
    bool exact =
        false;  ///< false: the code is inlined from a source that was skipped, `text` is near its call
};

/// The source of the instruction at `offset` of the object `file`, which belongs to the function at offset
/// `function`. In place of sources that `skips` (directory, name) says true of, the line before them counts.
/// Reads versions 2 to 5 of the table, not compressed ones.
SourceLine source_line(const char* file, std::uint64_t offset, std::uint64_t function,
                       const std::function<bool(std::string_view, std::string_view)>& skips);

}  // namespace atl::common
