// Folds over the members of a team, in PE order, in blocks that fit the first-level cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "collective/folds/copy_bytes.hpp"
#include "collective/folds/host_folds.hpp"

namespace atl::collective {

inline constexpr std::size_t fold_block = 4 * 1024;
struct alignas(64) FoldBlock {
    char bytes[fold_block];
};

/// Folds in float, and rounds once. Elements are converted by widen(to, from, count). The result is rounded
/// by narrow(to, folded, count), which may overwrite `folded`. The target may be one of the sources.
template <class SourceOf, class Widen, class Narrow>
void fold_in_float(Fold fold, std::size_t element_bytes, int n, SourceOf&& source, std::size_t bytes,
                   char* dst, Widen&& widen, Narrow&& narrow) {
    constexpr std::size_t elements = fold_block / sizeof(float);
    alignas(64) float folded[elements], next[elements];
    const std::size_t block = elements * element_bytes;
    for (std::size_t at = 0; at < bytes; at += block) {
        const std::size_t count = std::min(block, bytes - at) / element_bytes;
        widen(folded, source(0) + at, count);
        for (int i = 1; i < n; ++i) {
            widen(next, source(i) + at, count);
            fold(folded, folded, next, count);
        }
        narrow(dst + at, folded, count);
    }
}

/// The same for halves.
template <class SourceOf>
void fold_halves(const Kernel& kernel, int n, SourceOf&& source, std::size_t bytes, char* dst) {
    fold_in_float(
        kernel.fold, kernel.element_bytes, n, source, bytes, dst,
        [&](float* to, const char* from, std::size_t count) { kernel.widen(to, from, count); },
        [&](char* to, float* folded, std::size_t count) { kernel.narrow(to, folded, count, n); });
}

/// Folds sources that fit a cache line. dst is not one of them.
template <class SourceOf>
void fold_line(const Kernel& kernel, int n, SourceOf&& source, std::size_t bytes, unsigned char* dst) {
    if (kernel.widens()) [[unlikely]]
        return fold_halves(
            kernel, n, [&](int i) { return reinterpret_cast<const char*>(source(i)); }, bytes,
            reinterpret_cast<char*>(dst));
    copy_bytes(dst, source(0), bytes);
    for (int i = 1; i < n; ++i) kernel(dst, dst, source(i), bytes);
}

/// Stores source(0) op source(1) op … op source(n - 1), each at `source(i) + at`, to `dst`. `scratch` holds
/// intermediate results, so dst may be one of the sources.
template <class SourceOf>
void fold_block_to(const Kernel& kernel, int n, SourceOf&& source, std::size_t at, std::size_t bytes,
                   char* dst, FoldBlock& scratch) {
    if (kernel.widens()) [[unlikely]]
        return fold_halves(
            kernel, n, [&](int i) { return source(i) + at; }, bytes, dst);
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
