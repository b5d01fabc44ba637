// Sleeping on a word shared between processes.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace atl::common {

/// Sleeps while `word` is `seen`, at most `timeout_ns`. May return early.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                       std::uint64_t timeout_ns) noexcept {
    timespec t{static_cast<time_t>(timeout_ns / 1'000'000'000u),
               static_cast<long>(timeout_ns % 1'000'000'000u)};
    ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &t, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace atl::common
