// Many single elements of one symmetric array of a GPU, each by its number and its PE, in one call: take
// (gather), put_at (scatter) and add_at (scatter with atomic additions). StreamContext has them in the order
// of a stream (atoll/stream.hpp); move_elements returns when they are done.
#pragma once

#include "atoll/context.hpp"
#include "atoll/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace atl {

/// Numbers of elements, or of PEs: one for all, or one for each element moved, in memory that the GPU reads
/// when it comes there.
class Numbers {
  public:
    template <std::integral I> Numbers(I one) noexcept : one_(static_cast<std::int64_t>(one)) {}
    Numbers(const std::int64_t* each) noexcept : each_(each), bytes_(8) {}
    Numbers(const std::int32_t* each) noexcept : each_(each), bytes_(4) {}

    /// Null: `one` for all.
    const void* each() const noexcept { return each_; }
    std::int64_t one() const noexcept { return one_; }
    /// Of one number there.
    unsigned bytes() const noexcept { return bytes_; }
    /// The first there stands for all.
    Numbers for_all() const noexcept {
        Numbers same = *this;
        same.is_for_all_ = true;
        return same;
    }
    bool is_for_all() const noexcept { return is_for_all_; }

  private:
    const void* each_ = nullptr;
    std::int64_t one_ = 0;
    unsigned bytes_ = 8;
    bool is_for_all_ = false;
};

enum class ElementsOp : unsigned char { take, put_at, add_at };

/// What `Elements::values` points to: one element for each moved, side by side; one for all; or one for all,
/// of at most 16 bytes in memory of the host, which the call copies and needs no longer.
enum class ElementsValues : unsigned char { each, one, copied };

/// An array and what to do with elements of it, types erased. Element k stands `k * step_bytes` after
/// `first`, and is a place of the symmetric heap in this PE's own slot.
struct Elements {
    ElementsOp op;
    void* first;
    std::ptrdiff_t step_bytes;  ///< negative too
    std::size_t size;           ///< elements of the array: numbers go from -size to size - 1
    std::size_t element_bytes;
    DType type;  ///< of add_at: 32- and 64-bit integers, float and double
    Numbers index, pe;
    void* values;  ///< what take writes, and what the others read
    ElementsValues kind;
    std::size_t count;  ///< elements moved
};

/// Complete on return, at all PEs. Numbers and values may be in any memory of this PE; those in memory of the
/// host are looked at before anything is moved. Local. Throws Error as StreamContext's calls do.
ATOLL_API void move_elements(const Context& context, const Elements& elements);

}  // namespace atl
