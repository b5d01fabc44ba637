// Line buffering of a C program's output.
#pragma once

namespace atl::common {

/// If stdout is a pipe, flushes it after every line from now on, as on a terminal. So lines of a killed PE
/// are not lost. Does not change a stdout that the program has made unbuffered.
void flush_by_line();

}  // namespace atl::common
