// take (gather), put_at (scatter) and add_at (scatter with atomic additions) on a symmetric array of a GPU.
// One call moves many single elements, each addressed by index and PE. StreamContext has them in stream order
// (atoll/stream.hpp); move_elements is complete on return.
#pragma once

#include "atoll/context.hpp"
#include "atoll/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace atl {

/// Element indices or PE numbers: one value for all elements, or one for each element moved. The latter lie
/// in memory that the GPU reads in stream order.
class Numbers {
  public:
    template <std::integral I> Numbers(I one) noexcept : one_(static_cast<std::int64_t>(one)) {}
    Numbers(const std::int64_t* each) noexcept : each_(each), bytes_(8) {}
    Numbers(const std::int32_t* each) noexcept : each_(each), bytes_(4) {}

    /// Null if `one` applies to all elements.
    const void* each() const noexcept { return each_; }
    std::int64_t one() const noexcept { return one_; }
    /// Size of one number in `each`.
    unsigned bytes() const noexcept { return bytes_; }
    /// The first number of `each` applies to all elements.
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

/// Meaning of `Elements::values`: one element for each moved, contiguous; one for all; or a copied one for
/// all. A copied one has at most 16 bytes in host memory, and the call keeps no reference to it.
enum class ElementsValues : unsigned char { each, one, copied };

/// A type-erased operation on elements of an array. Element k lies at `first + k * step_bytes`, an address of
/// the symmetric heap in this PE's own slot.
struct Elements {
    ElementsOp op;
    void* first;
    std::ptrdiff_t step_bytes;  ///< negative too
    std::size_t size;           ///< elements of the array: indices range from -size to size - 1
    std::size_t element_bytes;
    DType type;  ///< element type of add_at: 32- and 64-bit integers, float and double
    Numbers index, pe;
    void* values;  ///< written by take, read by the others
    ElementsValues kind;
    std::size_t count;  ///< elements moved
};

/// Complete on return, at all PEs. Indices and values may be in any memory of this PE; those in host memory
/// are checked before anything is moved. Local. Throws the errors of StreamContext's calls.
ATOLL_API void move_elements(const Context& context, const Elements& elements);

}  // namespace atl
