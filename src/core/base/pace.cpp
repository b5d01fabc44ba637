#include "core/base/pace.hpp"

#include "atoll/detail/wait.hpp"
#include "common/clock.hpp"
#include "common/settings/settings.hpp"

#include <algorithm>
#include <cstdint>

namespace atl::core {

namespace {

/// Number of pauses before a wait yields: if every PE of the host has its own core, and if not.
constexpr int spins_with_cores = 1000;
constexpr int spins_without = 10;
constexpr double line_trip_ns = 60;

/// Number of pauses that take this long. A pause takes up to five times as long on some
/// processors (docs/measurements/2026-11-24-constants.md).
int pauses_in(double ns) {
    constexpr int n = 16;
    double least = 1e9;
    for (int attempt = 0; attempt < 4; ++attempt) {
        const std::uint64_t start = common::now_ns();
        for (int i = 0; i < n; ++i) detail::cpu_pause();
        least = std::min(least, static_cast<double>(common::now_ns() - start) / n);
    }
    return std::clamp(static_cast<int>(ns / std::max(least, 1.0)), 1, 8);
}

}  // namespace

Pace pace_of(const common::Settings& settings, int usable_cpus, int machine_pes) {
    const bool has_cores = machine_pes <= usable_cpus;
    return {.usable_cpus = usable_cpus,
            .spins = settings.spin >= 0 ? settings.spin : (has_cores ? spins_with_cores : spins_without),
            .pauses_of_a_line = pauses_in(line_trip_ns)};
}

}  // namespace atl::core
