// A scope that meets nowhere: what a grid does together, each thread a part.
#pragma once

namespace atl::kernels {

/// All threads of the grid.
struct Everybody {
    __device__ unsigned rank() const { return blockIdx.x * blockDim.x + threadIdx.x; }
    __device__ unsigned size() const { return gridDim.x * blockDim.x; }
};

}  // namespace atl::kernels
