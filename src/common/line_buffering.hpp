// When what a C program prints leaves the process.
#pragma once

namespace atl::common {

/// Where stdout is a pipe, it is flushed after every line from now on, as on a terminal: lines of a PE that
/// is killed are then seen. Leaves a stdout alone that the program has made unbuffered.
void flush_by_line();

}  // namespace atl::common
