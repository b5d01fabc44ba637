#include "gpu/two_streams.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

namespace atl::testing {
namespace {

constexpr int blocks = 8, threads = 128;

__device__ std::size_t first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ std::size_t step() { return gridDim.x * blockDim.x; }

__global__ void stir_kernel(const Strand s) {
    for (std::size_t i = first(); i < s.n; i += step()) s.own[i] = s.own[i] * 6364136223846793005u + s.salt;
}

__global__ void mix_kernel(const Strand s) {
    for (std::size_t i = first(); i < s.n; i += step()) s.mixed[i] = s.own[i] ^ (s.from[i] >> 1);
}

__global__ void absorb_kernel(const Strand s) {
    for (std::size_t i = first(); i < s.n; i += step())
        for (std::size_t part = 0; part < s.n_parts; ++part) s.own[i] += s.all[part * s.n + i] * (part + 1);
}

void check_launch() {
    const cudaError_t result = cudaGetLastError();
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void stir(const Strand& strand, void* stream) {
    stir_kernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(strand);
    check_launch();
}
void mix(const Strand& strand, void* stream) {
    mix_kernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(strand);
    check_launch();
}
void absorb(const Strand& strand, void* stream) {
    absorb_kernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(strand);
    check_launch();
}

}  // namespace atl::testing
