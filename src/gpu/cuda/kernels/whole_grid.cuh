// A scope of all threads of a grid, without a barrier.
#pragma once

namespace atl::kernels {

/// All threads of the grid; each does a part.
struct WholeGrid {
    __device__ unsigned rank() const { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ unsigned size() const { return gridDim.x * blockDim.x; }
};

}  // namespace atl::kernels
