// The time in which a process was able to run: on a busy machine, less than the time that has passed.
#pragma once

#include "common/clock.hpp"

#include <fstream>
#include <string>

namespace atl::common {

/// Seconds for which the main thread of process `pid` was ready and had no core; 0 if that is not known. A
/// wait for a core counts once it has ended.
inline double coreless_seconds(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/schedstat");
    double ran_ns = 0, waited_ns = 0;
    file >> ran_ns >> waited_ns;
    return waited_ns * 1e-9;
}

/// Seconds of a clock that does not count those. Only differences have a meaning.
inline double able_seconds(int pid) { return static_cast<double>(now_ns()) * 1e-9 - coreless_seconds(pid); }

/// Bounds how long a grace by that clock may last, as a multiple of its length.
constexpr double longest_grace = 10;

}  // namespace atl::common
