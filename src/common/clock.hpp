// Monotonic time, CPU time and time-outs.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace atl::common {

inline std::uint64_t ns_of(clockid_t clock) noexcept {
    timespec t;
    ::clock_gettime(clock, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}
inline std::uint64_t now_ns() noexcept { return ns_of(CLOCK_MONOTONIC); }
/// CPU time of the calling thread.
inline std::uint64_t thread_cpu_ns() noexcept { return ns_of(CLOCK_THREAD_CPUTIME_ID); }

/// A time-out in nanoseconds: 0 for a negative one, at most 31 years. So it can be added to `now_ns`, and
/// infinity can be converted.
constexpr std::uint64_t timeout_ns(double seconds) noexcept {
    return static_cast<std::uint64_t>(std::min(std::max(seconds, 0.0), 1e9) * 1e9);
}

}  // namespace atl::common
