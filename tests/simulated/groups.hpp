// Collectives of the simulated GPU: what kernels do, by the calling thread.
#pragma once

#include "heap/device_calls.hpp"

namespace atl::simulated {

void perform(const heap::GroupCall& call);
void perform(const heap::CollectCall& call);

}  // namespace atl::simulated
