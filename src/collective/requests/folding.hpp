// Folding: the reduction of several members' elements, in rank order, for non-blocking operations.
#pragma once

#include "collective/folds/averages.hpp"
#include "collective/folds/fold.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace atl::requests {

/// The element types of reductions: those of DType, then the 8-bit floating-point types.
inline constexpr int float8_e4m3 = dtype_count;
inline constexpr int float8_e5m2 = dtype_count + 1;

inline constexpr std::size_t line_of_fold = 64;

class Folding {
  public:
    Folding() = default;
    /// Throws Error(dtype_mismatch) for a type that the operator does not take.
    Folding(int type, ReduceOp op);

    std::size_t element_bytes() const { return element_bytes_; }

    /// Stores source(0) op source(1) op … op source(n - 1) to dst, which may be one of the sources. Types of
    /// 16 and 8 bits are accumulated in float and rounded once.
    template <class SourceOf> void fold(int n, SourceOf&& source, std::size_t bytes, char* dst) const {
        if (eight_bit_) {
            fold_eight_bits(n, source, bytes, dst);
            return;
        }
        collective::fold_to(kernel_, n, source, bytes, dst);
        if (average_) collective::finish_average(dst, bytes / size_of(real_), real_, ReduceOp::avg, n);
    }

    /// A fold whose sources are on several hosts: one host after the other folds its own. Folds of 16 and 8
    /// bits are passed on in float.
    struct Part {
        const char* so_far = nullptr;  ///< the fold of the earlier hosts; null on the first
        int n_in_all = 0;              ///< the sources of all hosts, on the last one; else 0
    };
    /// The size of a passed element divided by that of an element.
    std::size_t widening() const { return widens() ? sizeof(float) / element_bytes_ : 1; }
    /// Folds the `n` sources of this host. The result on the last host equals that of fold() for all sources.
    template <class SourceOf>
    void fold_part(Part part, int n, SourceOf&& source, std::size_t bytes, char* dst) const {
        if (widens()) return fold_wide_part(part, n, source, bytes, dst);
        const int before = part.so_far != nullptr ? 1 : 0;
        const auto with_so_far = [&](int i) { return i < before ? part.so_far : source(i - before); };
        collective::fold_to(kernel_, n + before, with_so_far, bytes, dst);
        if (average_ && part.n_in_all != 0)
            collective::finish_average(dst, bytes / size_of(real_), real_, ReduceOp::avg, part.n_in_all);
    }

  private:
    bool widens() const { return eight_bit_ || kernel_.widens(); }
    void widen_any(float* to, const char* from, std::size_t count) const {
        eight_bit_ ? widen(to, from, count) : kernel_.widen(to, from, count);
    }
    void narrow_any(char* to, float* folded, std::size_t count, int n) const {
        if (!eight_bit_) return kernel_.narrow(to, folded, count, n);
        if (average_) collective::finish_average(folded, count, DType::float32, ReduceOp::avg, n);
        narrow(to, folded, count);
    }
    template <class SourceOf>
    void fold_wide_part(Part part, int n, SourceOf&& source, std::size_t bytes, char* dst) const {
        constexpr std::size_t elements = collective::fold_block / sizeof(float);
        alignas(line_of_fold) float folded[elements], next[elements];
        for (std::size_t first = 0; first < bytes / element_bytes_; first += elements) {
            const std::size_t count = std::min(elements, bytes / element_bytes_ - first);
            const std::size_t at = first * element_bytes_, at_float = first * sizeof(float);
            if (part.so_far != nullptr) std::memcpy(folded, part.so_far + at_float, count * sizeof(float));
            for (int i = 0; i < n; ++i) {
                const bool begins = i == 0 && part.so_far == nullptr;
                widen_any(begins ? folded : next, source(i) + at, count);
                if (!begins) kernel_.fold(folded, folded, next, count);
            }
            if (part.n_in_all != 0)
                narrow_any(dst + at, folded, count, part.n_in_all);
            else
                std::memcpy(dst + at_float, folded, count * sizeof(float));
        }
    }
    template <class SourceOf>
    void fold_eight_bits(int n, SourceOf&& source, std::size_t bytes, char* dst) const {
        collective::fold_in_float(
            kernel_.fold, element_bytes_, n, source, bytes, dst,
            [&](float* to, const char* from, std::size_t count) { widen(to, from, count); },
            [&](char* to, float* folded, std::size_t count) { narrow_any(to, folded, count, n); });
    }
    void widen(float* to, const char* from, std::size_t count) const;
    void narrow(char* to, const float* from, std::size_t count) const;

    int type_ = 0;
    std::size_t element_bytes_ = 1;
    bool eight_bit_ = false;
    bool average_ = false;
    DType real_ = DType::float32;  ///< type of averages; for complex numbers, that of the two parts
    collective::Kernel kernel_;
};

}  // namespace atl::requests
