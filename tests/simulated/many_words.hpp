// What the simulated GPU does of waits and tests for many words.
#pragma once

#include "heap/device_calls.hpp"

namespace atl::simulated {

/// Blocks its caller as long as it waits. Throws as waits of device functions on the host do.
void perform(const heap::WaitManyCall& call);

}  // namespace atl::simulated
