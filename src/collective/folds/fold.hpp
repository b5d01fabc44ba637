// Folds over the members of a team, in PE order, in blocks that fit the first-level cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "collective/folds/host_folds.hpp"

namespace atl::collective {

inline constexpr std::size_t fold_block = 4 * 1024;
struct alignas(64) FoldBlock {
    char bytes[fold_block];
};

/// Stores source(0) op source(1) op … op source(n - 1), each at `source(i) + at`, to `dst`. `scratch` holds
/// intermediate results, so dst may be one of the sources.
template <class SourceOf>
void fold_block_to(const Kernel& kernel, int n, SourceOf&& source, std::size_t at, std::size_t bytes,
                   char* dst, FoldBlock& scratch) {
    if (n == 1) {
        if (dst != source(0) + at) std::memcpy(dst, source(0) + at, bytes);
        return;
    }
    const char* so_far = source(0) + at;
    for (int i = 1; i < n; ++i) {
        char* to = i == n - 1 ? dst : scratch.bytes;
        kernel(to, so_far, source(i) + at, bytes);
        so_far = to;
    }
}

/// The same for any size.
template <class SourceOf>
void fold_to(const Kernel& kernel, int n, SourceOf&& source, std::size_t bytes, char* dst) {
    FoldBlock scratch;
    for (std::size_t lo = 0; lo < bytes; lo += fold_block)
        fold_block_to(kernel, n, source, lo, std::min(fold_block, bytes - lo), dst + lo, scratch);
}

}  // namespace atl::collective
