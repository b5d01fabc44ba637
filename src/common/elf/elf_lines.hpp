// The line table of an executable or shared object that was compiled with -g: DWARF's .debug_line.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace atl::common {

struct SourceLine {
    std::string text;  ///< such as "solver.c:12"; empty if unknown
    bool exact =
        false;  ///< false: the code is inlined from a source that was skipped, `text` is near its call
};

/// The source of the instruction at `offset` of the object `file`, in the function at offset `function`. A
/// source for which `skips` (directory, name) is true is replaced by the line before it. Reads versions 2 to
/// 5 of the table, not compressed ones.
SourceLine source_line(const char* file, std::uint64_t offset, std::uint64_t function,
                       const std::function<bool(std::string_view, std::string_view)>& skips);

}  // namespace atl::common
