// Slot: the part of the window that belongs to a PE.
#pragma once

namespace atl::detail {

/// Number of a PE's slot in the window. A far PE has none: only a transport reaches it. All host code asks
/// `is_near`; kernels have numbers of their own (atoll/device/detail/far.hpp).
class Slot {
  public:
    /// No slot.
    constexpr Slot() noexcept = default;
    constexpr explicit Slot(int number) noexcept : number_(number) {}

    /// True if loads and stores of this PE reach the slot.
    constexpr bool is_near() const noexcept { return number_ >= 0; }
    /// -1 without a slot.
    constexpr int number() const noexcept { return number_; }

  private:
    int number_ = -1;
};

}  // namespace atl::detail
