// take, put_at and add_at: many single elements of many PEs, whichever way leads to them.
#define ATOLL_DEVICE_FAR 1
#include "atoll/device/scope.hpp"
#include "cuda/kernels/elements.cuh"
#include "cuda/kernels/everybody.cuh"

namespace atl::kernels {

/// What a thread of the host was asked for is complete when the kernel ends; the rest is so by that end.
extern "C" __global__ void atoll_elements(const ElementsCall call) {
    move_elements(call, Everybody{});
    if (call.has_far && call.operation != device::Operation::take) device::quiet(call.team, device::Block{});
}

}  // namespace atl::kernels
