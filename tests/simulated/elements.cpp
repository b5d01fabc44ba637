#define ATOLL_DEVICE_FAR 1
#include "simulated/elements.hpp"

#include "gpu/cuda/kernels/elements.cuh"

namespace atl::simulated {

void perform(const gpu::ElementsCall& call) {
    kernels::move_elements(call, device::Thread{});
    if (call.has_far && call.operation != device::Operation::take) device::quiet(call.team, device::Thread{});
}

}  // namespace atl::simulated
