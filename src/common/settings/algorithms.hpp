// Algorithms of collectives, and the rules of ATOLL_COLLECTIVE that select them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace atl::common {

enum class Collective : std::uint8_t {
    broadcast,
    fcollect,
    collect,
    alltoall,
    gather,
    scatter,
    reduce,
    reduce_to,
    reduce_scatter,
    scan,
};
inline constexpr int collective_count = 10;

enum class Algorithm : std::uint8_t {
    line,    ///< data beside the flag in one cache line; one meeting
    staged,  ///< every PE copies into staging, meets once, reads
    pull,    ///< meet, read from the others' sources, meet
    both,    ///< meet; owners and readers of the data copy towards each other; meet
    push,    ///< meet, stream into the others' targets or staging, meet
    slices,  ///< meet, each PE folds its slice of all sources into all targets, meet
};
inline constexpr int algorithm_count = 6;

/// True if a collective has the algorithm. src/collective/table.cpp has a row for each of these.
constexpr bool has_algorithm(Collective collective, Algorithm algorithm) {
    switch (algorithm) {
        case Algorithm::line:
            return collective != Collective::collect;
        case Algorithm::staged:
            return true;
        case Algorithm::both:
            return collective == Collective::broadcast;
        case Algorithm::push:
            return false;
        case Algorithm::slices:
        case Algorithm::pull:
            break;
    }
    const bool folds_slices = collective == Collective::reduce || collective == Collective::reduce_to ||
                              collective == Collective::scan;
    return folds_slices == (algorithm == Algorithm::slices);
}

const char* name_of(Collective collective);
const char* name_of(Algorithm algorithm);

/// Selects an algorithm from a size on, instead of the table's.
struct AlgorithmRule {
    Collective collective;
    Algorithm algorithm;
    std::size_t from_bytes;
};
/// Later rules take precedence.
using AlgorithmRules = std::vector<AlgorithmRule>;

/// Parses "broadcast:65536=pull,reduce=slices": each applies from that size on (default 0). Throws
/// Error(settings).
AlgorithmRules parse_algorithms(const std::string& text);
/// The text that parse_algorithms reads.
std::string text_of(const AlgorithmRules& rules);

}  // namespace atl::common
