// Folding: the reduction of several members' elements, in rank order, for non-blocking operations.
#pragma once

#include "collective/folds/averages.hpp"
#include "collective/folds/fold.hpp"

#include <cstddef>

namespace atl::requests {

/// The element types of reductions: those of DType, then the 8-bit floating-point types.
inline constexpr int float8_e4m3 = dtype_count;
inline constexpr int float8_e5m2 = dtype_count + 1;

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

  private:
    template <class SourceOf>
    void fold_eight_bits(int n, SourceOf&& source, std::size_t bytes, char* dst) const {
        collective::fold_in_float(
            kernel_.fold, element_bytes_, n, source, bytes, dst,
            [&](float* to, const char* from, std::size_t count) { widen(to, from, count); },
            [&](char* to, float* folded, std::size_t count) {
                if (average_) collective::finish_average(folded, count, DType::float32, ReduceOp::avg, n);
                narrow(to, folded, count);
            });
    }
    void widen(float* to, const char* from, std::size_t count) const;
    void narrow(char* to, const float* from, std::size_t count) const;

    int type_ = 0;
    std::size_t element_bytes_ = 1;
    bool eight_bit_ = false;
    bool average_ = false;
    DType real_ = DType::float32;  ///< of averages: the type, or that of a complex type's two parts
    collective::Kernel kernel_;
};

}  // namespace atl::requests
