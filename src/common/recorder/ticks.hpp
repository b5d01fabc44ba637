// Ticks: a clock for statistics and traces that costs a third of clock_gettime. All PEs of a host share it.
#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace atl::common {

/// True if the kernel itself reads time from the CPU's counter, so that it is constant and equal on all
/// cores.
inline bool has_steady_counter() noexcept {
#if defined(__x86_64__)
    char name[16] = {};
    if (std::FILE* file =
            std::fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re")) {
        const std::size_t read = std::fread(name, 1, sizeof name - 1, file);
        std::fclose(file);
        return read >= 3 && std::strncmp(name, "tsc", 3) == 0;
    }
    return false;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

inline std::uint64_t counter_ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return now_ns();
#endif
}

/// Reads the ticks of a PE's log.
struct TickClock {
    bool uses_counter = false;
    std::uint64_t now() const noexcept { return uses_counter ? counter_ticks() : now_ns(); }
};

/// Ticks of about 5 us.
inline std::uint64_t few_us_ticks(bool uses_counter) noexcept {
    constexpr std::uint64_t ns = 5000;
#if defined(__aarch64__)
    std::uint64_t per_second;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(per_second));
    return uses_counter ? per_second * ns / 1'000'000'000 : ns;
#else
    constexpr std::uint64_t ghz = 2;
    return uses_counter ? ns * ghz : ns;
#endif
}

/// The same moment on both clocks.
struct ClockPair {
    std::uint64_t ticks = 0, ns = 0;
    static ClockPair now(bool uses_counter) noexcept {
        const std::uint64_t ns = now_ns();
        return {uses_counter ? counter_ticks() : ns, ns};
    }
};

/// Converts ticks to CLOCK_MONOTONIC, from two moments on both clocks.
class TickScale {
  public:
    TickScale(ClockPair from, ClockPair to) : from_(from) {
        if (to.ticks > from.ticks && to.ns > from.ns)
            ns_per_tick_ = static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
    }
    double ns_of(std::uint64_t duration_ticks) const {
        return static_cast<double>(duration_ticks) * ns_per_tick_;
    }
    std::uint64_t time_ns(std::uint64_t ticks) const {
        const double since = static_cast<double>(static_cast<std::int64_t>(ticks - from_.ticks));
        return from_.ns + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * ns_per_tick_));
    }

  private:
    ClockPair from_;
    double ns_per_tick_ = 1;
};

}  // namespace atl::common
