// Agreement of the PEs in a collective call on distributed arrays: equal arguments, or an error on every PE.
#pragma once

#include "atoll/detail/layout.hpp"
#include "atoll/team.hpp"

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace atl::detail {

/// Texts of the shape, grid, distribution and halo that a PE passed.
using LayoutTexts = std::array<std::string, 4>;

/// Returns a PE of a team whose fingerprint differs from PE 0's, or -1. Collective.
ATOLL_API int different_pe(const Team& team, std::uint64_t fingerprint);
/// Throws Error(collective_mismatch), which names what `other` and PE 0 passed. Collective.
[[noreturn]] ATOLL_API void refuse_different(const Team& team, const char* call, int other,
                                             const LayoutTexts& passed, const MessageElements& elements);
/// Collective. If a PE of a team has a problem, throws that of the first one on every PE.
ATOLL_API void raise_together(const Team& team, const char* call, const std::optional<Error>& problem);

/// Throws Error(invalid_argument) if this PE is not a member of a team.
inline const Team& require_member(const char* call, const Team& team) {
    if (!team)
        refuse(ErrorCode::invalid_argument,
               std::string(call) + ": this PE is not a member of the team; its members alone make the call.");
    return team;
}

template <std::size_t N> LayoutTexts texts_of(const Index<N>& shape, const DistOptions<N>& options) {
    std::string dist, halo;
    for (std::size_t axis = 0; axis < N; ++axis) {
        const auto& [before, after] = options.halo[axis];
        const Index<2> widths{before, after};
        if (axis != 0) dist += ", ", halo += ", ";
        dist += options.dist[axis].text();
        halo += before == after ? std::to_string(before) : text_of(widths);
    }
    return {text_of(shape), text_of(options.grid), "{" + dist + "}", "{" + halo + "}"};
}

/// The element type of an array: NumPy's kind and the size.
template <Symmetric T> constexpr MessageElements array_elements() {
    char kind = 'V';
    if constexpr (std::same_as<T, bool>)
        kind = 'b';
    else if constexpr (std::floating_point<T> || std::same_as<T, float16>)
        kind = 'f';
    else if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>)
        kind = 'c';
    else if constexpr (std::integral<T>)
        kind = std::is_signed_v<T> ? 'i' : 'u';
    return {kind, static_cast<std::uint32_t>(sizeof(T))};
}

/// Returns the layout of an array of T over `n_pes` PEs that all PEs of a team passed. Collective. Throws
/// Error on every PE: invalid_argument, collective_mismatch.
template <Symmetric T, std::size_t N>
Layout<N> agreed_layout(const Team& team, const char* call, const Index<N>& shape, int n_pes,
                        const DistOptions<N>& options) {
    Layout<N> layout;
    std::optional<Error> problem;
    try {
        layout = Layout<N>(shape, n_pes, options);
    } catch (const Error& error) {
        problem = error;
    }
    constexpr MessageElements elements = array_elements<T>();
    std::uint64_t fingerprint = problem ? 0 : layout.fingerprint();
    mix(fingerprint, elements.kind);
    mix(fingerprint, elements.bytes);
    if (const int other = different_pe(team, fingerprint); other >= 0)
        refuse_different(team, call, other, texts_of(shape, options), elements);
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
