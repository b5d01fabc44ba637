// Collectives of the simulated GPU: the work of kernels, done by the calling thread.
#pragma once

#include "gpu/device_calls.hpp"

namespace atl::simulated {

void perform(const gpu::GroupCall& call);
void perform(const gpu::CollectCall& call);
void perform(const gpu::StagedCall& call);

}  // namespace atl::simulated
