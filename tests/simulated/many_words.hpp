// Waits and tests for many words on the simulated GPU.
#pragma once

#include "gpu/device_calls.hpp"

namespace atl::simulated {

/// Blocks its caller during the wait. Throws as waits of device functions on the host do.
void perform(const gpu::WaitManyCall& call);

}  // namespace atl::simulated
