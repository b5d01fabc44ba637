// A user's kernels between Atoll's operations on a stream (tests/gpu/two_streams.cu); each returns at once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace atl::testing {

/// The arrays of one stream of a PE, in the device heap.
struct Strand {
    std::uint64_t* own;      ///< n words
    std::uint64_t* from;     ///< n words that the left neighbour put
    std::uint64_t* mixed;    ///< n words
    std::uint64_t* all;      ///< n_parts times n words
    std::uint64_t* arrived;  ///< signal of `from`
    std::size_t n;
    std::size_t n_parts;  ///< 1: `all` is the sum of the PEs' `mixed`; otherwise the parts are consecutive
    std::uint64_t salt;
};

void stir(const Strand& strand, void* stream);    ///< own = own * 6364136223846793005 + salt
void mix(const Strand& strand, void* stream);     ///< mixed = own ^ from / 2
void absorb(const Strand& strand, void* stream);  ///< own += (k + 1) * part k of all, for each k

}  // namespace atl::testing
