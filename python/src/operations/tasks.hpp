// The tasks of event loops, for reports of hangs: coroutines that wait are on no thread's stack.
#pragma once

namespace atl::python {

/// Lets the thread of `_offer_tasks` write the tasks. For handlers of signals; does nothing without the
/// thread.
void ask_for_tasks() noexcept;

}  // namespace atl::python
