// Waits and tests for many words of this PE, by one warp.
#include "gpu/cuda/kernels/many_words.hpp"
#include "gpu/device_calls.hpp"

namespace atl::kernels {

namespace {

struct Warp {
    __device__ unsigned rank() const { return threadIdx.x; }
    __device__ unsigned size() const { return 32; }
    __device__ unsigned ballot(bool mine) const { return __ballot_sync(~0u, mine); }
};

}  // namespace

/// On return, all stores that its lanes acquired are visible to the next work of the stream.
extern "C" __global__ void atoll_wait_many(const gpu::WaitManyCall call) {
    poll_many(call.team, call.asked, call.operation, call.reported_values, Warp{});
}

}  // namespace atl::kernels
