// Operations: collectives on symmetric memory. Members read each other's data where it lies.
#pragma once

#include "collective/requests/folding.hpp"
#include "collective/symmetric/symmetric.hpp"

namespace atl::symmetric {

/// A part of the block, equal on all members.
struct Range {
    std::size_t offset = 0;
    std::size_t bytes = 0;
};

/// Collectives of one group's block. All are collective; reductions are in the order of the ranks.
class Operations {
  public:
    /// Throws Error(shape_mismatch) if the range leaves the block.
    Operations(Symmetric& memory, Range range, const Bounds& bounds);

    /// Each member reduces all data. `out` is not in the range.
    void all_reduce(const requests::Folding& folding, char* out);
    /// Each member reduces a part in place, and writes it to all. Then `out` gets the result, unless it is
    /// null.
    void all_reduce_in_place(const requests::Folding& folding, char* out);
    /// The data of all members, one after another.
    void all_gather(char* out);
    /// Member i gets the sum of the i-th part of each row of `row_bytes`.
    void reduce_scatter(const requests::Folding& folding, std::size_t row_bytes, char* out);

  private:
    void meet(const char* operation) { memory_.meet(memory_.own_row(), operation, bounds_); }
    char* data(int member) const { return memory_.data(member) + range_.offset; }
    void fold(const requests::Folding& folding, std::size_t at, std::size_t bytes, char* out) const;

    Symmetric& memory_;
    Range range_;
    const Bounds& bounds_;
};

}  // namespace atl::symmetric
