// Agreement of the PEs in a collective call on distributed arrays: equal arguments, or an error on every PE.
#pragma once

#include "atoll/detail/layout.hpp"
#include "atoll/team.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atl::detail {

/// Collective. Throws Error(collective_mismatch) on every PE of a team if two of them pass different
/// fingerprints. `passed` describes this PE's.
ATOLL_API void require_same(const Team& team, const char* call, std::uint64_t fingerprint,
                            const std::string& passed);
/// Collective. If a PE of a team has a problem, throws that of the first one on every PE.
ATOLL_API void raise_together(const Team& team, const char* call, const std::optional<Error>& problem);

/// Throws Error(invalid_argument) if this PE is not a member of a team.
inline const Team& require_member(const char* call, const Team& team) {
    if (!team)
        refuse(ErrorCode::invalid_argument,
               std::string(call) + ": this PE is not a member of the team; its members alone make the call.");
    return team;
}

/// Returns the layout of an array over `n_pes` PEs that all PEs of a team passed. Collective. Throws Error on
/// every PE: invalid_argument, collective_mismatch.
template <std::size_t N>
Layout<N> agreed_layout(const Team& team, const char* call, const Index<N>& shape, int n_pes,
                        const DistOptions<N>& options) {
    Layout<N> layout;
    std::optional<Error> problem;
    try {
        layout = Layout<N>(shape, n_pes, options);
    } catch (const Error& error) {
        problem = error;
    }
    require_same(team, call, problem ? 0 : layout.fingerprint(),
                 "shape " + text_of(shape) +
                     (problem ? ", where " + std::string(problem->what())
                              : " on a grid of " + text_of(layout.grid())));
    if (problem) throw *problem;
    return layout;
}

/// An array or a team, as the members of another team passed it.
struct Passed {
    std::vector<std::uint64_t> facts;
    std::vector<int> members;  ///< members of its team, as PEs of the other team
};
/// Returns the value that the PEs of `over` with a team `its` passed. An example is the team of an array;
/// then the array's shape is among the `facts`. Collective over `over`. Throws Error(invalid_argument) on
/// every PE, if none has one,
/// if two passed different ones, or if other PEs than its members passed it.
ATOLL_API Passed agreed(const Team& over, const char* call, const char* what, const Team& its,
                        const std::vector<std::uint64_t>& facts);

}  // namespace atl::detail
