// Lists of PEs as text.
#pragma once

#include <string>
#include <vector>

namespace atl::common {

/// Ascending PE numbers as "0-3,7".
inline std::string pe_ranges(const std::vector<int>& pes) {
    std::string text;
    for (std::size_t i = 0; i < pes.size();) {
        std::size_t last = i;
        while (last + 1 < pes.size() && pes[last + 1] == pes[last] + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(pes[i]);
        if (last > i) text += (last == i + 1 ? ',' : '-') + std::to_string(pes[last]);
        i = last + 1;
    }
    return text;
}

}  // namespace atl::common
