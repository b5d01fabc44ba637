// gathered: words of every member of a team, of any number.
#pragma once

#include "atoll/team.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

namespace atl::core {

using Words = std::vector<std::uint64_t>;

/// Returns the words of PE 0, 1, … of a team, which need not be equally many. Collective over the team.
inline std::vector<Words> gathered(const Team& team, const Words& mine) {
    const std::uint64_t length = mine.size();
    Words lengths(static_cast<std::size_t>(team.n_pes()));
    team.fcollect(lengths, std::span(&length, 1));
    Words all(std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}));
    if (!all.empty()) team.collect(all, mine);
    std::vector<Words> found;
    auto at = all.begin();
    for (const std::uint64_t one : lengths) {
        found.emplace_back(at, at + static_cast<std::ptrdiff_t>(one));
        at += static_cast<std::ptrdiff_t>(one);
    }
    return found;
}

}  // namespace atl::core
