// A call within a signal's handler that survives its own faults.
#pragma once

namespace atl::common {

/// Calls `function`, and ends the call at its first SIGSEGV or SIGBUS. False then, and without a call while
/// another thread is in one. The function may read invalid memory. It must hold no lock and own nothing.
bool guarded_call(void (*function)(int), int argument) noexcept;

}  // namespace atl::common
