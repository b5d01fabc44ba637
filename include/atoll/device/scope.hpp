// Who does an operation together: an argument, never a name's suffix. A scope has rank(), size() and sync(),
// and all of its threads make the call alike.
#pragma once

#include "atoll/device/team.hpp"

namespace atl::device {

/// One thread, of a kernel or of the host.
struct Thread {
    ATOLL_ANYWHERE unsigned rank() const { return 0; }
    ATOLL_ANYWHERE unsigned size() const { return 1; }
    ATOLL_ANYWHERE void sync() const {}
};

#if defined(__CUDACC__)
/// The 32 threads of a warp; none may be missing.
struct Warp {
    __device__ unsigned rank() const {
        unsigned lane;
        asm("mov.u32 %0, %%laneid;" : "=r"(lane));
        return lane;
    }
    __device__ unsigned size() const { return 32; }
    __device__ void sync() const { __syncwarp(); }
};

/// All threads of a block.
struct Block {
    __device__ unsigned rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ void sync() const { __syncthreads(); }
};
#endif

}  // namespace atl::device
