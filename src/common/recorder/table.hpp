// Tables as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atl::common {

/// Lines of cells in columns, each line indented by two spaces. `sides` has a letter for each column: `l`
/// begins at the left, `r` ends at the right.
inline std::string table_text(const std::vector<std::vector<std::string>>& lines, std::string_view sides) {
    std::vector<std::size_t> widths(sides.size());
    for (const std::vector<std::string>& cells : lines)
        for (std::size_t c = 0; c < sides.size(); ++c) widths[c] = std::max(widths[c], cells[c].size());
    std::string table;
    for (const std::vector<std::string>& cells : lines) {
        std::string line;
        for (std::size_t c = 0; c < sides.size(); ++c) {
            const std::string padding(widths[c] - cells[c].size(), ' ');
            line += "  " + (sides[c] == 'l' ? cells[c] + padding : padding + cells[c]);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        table += line + "\n";
    }
    return table;
}

}  // namespace atl::common
