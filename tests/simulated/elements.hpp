// The library's kernel for single elements, run by a thread of the host.
#pragma once

#include "gpu/device_calls.hpp"

namespace atl::simulated {

void perform(const gpu::ElementsCall& call);

}  // namespace atl::simulated
