// YieldPolicy: decides whether waits of a PE yield the core before they sleep.
#pragma once

#include "common/clock.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace atl::common {

/// A yield is the fastest switch between PEs that share a core. Beside other programs it costs their whole
/// time slice, while a sleeper is woken at once. After a yield that took long, the next waits sleep without
/// one. Their number doubles with each further long yield, and shrinks with each short one.
/// docs/measurements/2026-11-26-busy-machine.md
class YieldPolicy {
  public:
    static constexpr std::uint64_t long_ns = 500'000;  ///< less than the least time slice of Linux
    static constexpr int most_without = 32;

    /// Asked once by each wait. False: it sleeps without a yield.
    bool allows() noexcept {
        const int left = without_.load(std::memory_order_relaxed);
        if (left > 0) without_.store(left - 1, std::memory_order_relaxed);
        return left <= 0;
    }

    /// Yields the core. Returns false if that took so long that the wait should sleep.
    bool yield() noexcept {
        const std::uint64_t began = now_ns();
        ::sched_yield();
        return learn(now_ns() - began);
    }

    /// Takes the duration of a yield into account. Returns false if it was long.
    bool learn(std::uint64_t yield_ns) noexcept {
        const int next = next_.load(std::memory_order_relaxed);
        if (yield_ns < long_ns) {
            if (next > 1) next_.store(next - 1, std::memory_order_relaxed);
            return true;
        }
        without_.store(next, std::memory_order_relaxed);
        next_.store(std::min(2 * next, most_without), std::memory_order_relaxed);
        return false;
    }

  private:
    // Threads of a PE share these; a lost update changes only how many waits sleep.
    std::atomic<int> without_{0};
    std::atomic<int> next_{1};
};

}  // namespace atl::common
