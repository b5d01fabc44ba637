// Bell: a word in shared memory on which the threads of a process sleep, and by which other processes wake
// them.
#pragma once

#include "common/futex.hpp"

#include <atomic>
#include <cstdint>

namespace atl::common {

/// Before a thread sleeps, it counts itself, then checks once more for the data that it waits for. So either
/// it sees the store before `order_before_sleepers`, or the storing thread sees its count.
struct alignas(64) Bell {
    std::atomic<std::uint32_t> word;
    std::atomic<std::uint32_t> sleepers;

    /// Wakes the sleepers. Call it after each store that they may wait for.
    void ring() {
        order_before_sleepers();
        wake_if_asleep();
    }
    static void order_before_sleepers() {
#if !defined( \
    __SANITIZE_THREAD__)  // which does not know fences; the count is read by an atomic operation there
        std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
    }
    void wake_if_asleep() {
#if defined(__SANITIZE_THREAD__)
        const std::uint32_t count = sleepers.fetch_add(0, std::memory_order_seq_cst);
#else
        const std::uint32_t count = sleepers.load(std::memory_order_relaxed);
#endif
        if (count == 0) return;
        word.fetch_add(1, std::memory_order_seq_cst);
        futex_wake_all(word);
    }
    /// Sleeps until a ring, at most `most_ns`. `is_over` returns true if the wait is over.
    template <class IsOver> void sleep(std::uint64_t most_ns, IsOver&& is_over) {
        sleepers.fetch_add(1, std::memory_order_seq_cst);
        const std::uint32_t seen = word.load(std::memory_order_seq_cst);
        if (!is_over()) futex_wait(word, seen, most_ns);
        sleepers.fetch_sub(1, std::memory_order_seq_cst);
    }
};

}  // namespace atl::common
