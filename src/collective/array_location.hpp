// The location of an array that a member sends to others: its offset in the slot and a few flags, in one
// word.
#pragma once

#include <cstdint>

namespace atl::collective {

/// Slots have less than 2^48 bytes, as address spaces do.
class ArrayLocation {
  public:
    ArrayLocation() = default;
    ArrayLocation(std::uint64_t offset, unsigned flags)
        : word_((offset & offset_mask) | std::uint64_t{flags} << offset_bits) {}
    std::uint64_t offset() const { return word_ & offset_mask; }
    unsigned flags() const { return static_cast<unsigned>(word_ >> offset_bits); }

  private:
    static constexpr int offset_bits = 48;
    static constexpr std::uint64_t offset_mask = (std::uint64_t{1} << offset_bits) - 1;
    std::uint64_t word_ = 0;
};

}  // namespace atl::collective
