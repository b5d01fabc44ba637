// take, put_at and add_at: many single elements of many PEs, near and far.
#define ATOLL_DEVICE_FAR 1
#include "atoll/device/scope.hpp"
#include "gpu/cuda/kernels/elements.cuh"
#include "gpu/cuda/kernels/whole_grid.cuh"

namespace atl::kernels {

/// Requests to a thread of the host are complete when the kernel ends, as are the other accesses.
extern "C" __global__ void atoll_elements(const ElementsCall call) {
    move_elements(call, WholeGrid{});
    if (call.has_far && call.operation != device::Operation::take) device::quiet(call.team, device::Block{});
}

}  // namespace atl::kernels
