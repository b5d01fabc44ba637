// The time in which a process was able to run: on a busy machine, less than the time that has passed.
#pragma once

namespace atl::common {

/// Seconds for which the main thread of process `pid` was ready and had no core; 0 if that is not known.
double coreless_seconds(int pid);

/// Seconds of a clock that stands still while the main thread of process `pid` is ready and no core is free.
/// Only differences have a meaning.
double able_seconds(int pid);

/// Bounds how long a grace by that clock may last, as a multiple of its length.
constexpr double longest_grace = 10;

}  // namespace atl::common
