// Launches of kernels whose blocks wait for one another or for other PEs. All blocks must be resident at
// once: resident blocks would wait forever for the others. PEs that run on one GPU at once (through NVIDIA's
// MPS, or as threads) divide it. For CUDA C++ with CUDA's runtime.
#pragma once

#include "atoll/device/resident.hpp"

#include <cuda_runtime.h>

#include <cstddef>

namespace atl::device {

namespace detail {

/// Number of blocks of a kernel that fit on the current GPU at once, over all PEs. Returns 0 if not even one,
/// or on an error.
template <class... Parameters>
int whole_blocks(int& gpu, void (*kernel)(Parameters...), int threads, std::size_t shared_bytes) {
    int multiprocessors = 0, each = 0;
    if (cudaGetDevice(&gpu) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu) != cudaSuccess)
        return 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes) != cudaSuccess)
        return 0;
    return each * multiprocessors;
}

}  // namespace detail

/// The most blocks of `threads` threads that this PE may have resident at once on the current GPU. Returns 0
/// if not even one, or on an error. If several PEs run on the GPU at once, each gets an equal share of
/// fifteen sixteenths. If they time-slice it (without MPS), each gets the whole GPU. Valid from the first
/// allocation of device memory on. PEs with different GPUs, or different numbers of PEs on them, take the
/// minimum for grids that must be equal. Local.
template <class... Parameters>
int most_resident_blocks(void (*kernel)(Parameters...), int threads, std::size_t shared_bytes = 0) {
    int gpu = 0;
    const int whole = detail::whole_blocks(gpu, kernel, threads, shared_bytes);
    return atl::detail::resident_share(gpu, whole);
}

/// Launches `kernel` on `stream` so that all of its blocks run at once. Local, asynchronous. Returns
/// cudaErrorCooperativeLaunchTooLarge if the grid cannot be resident (see most_resident_blocks). Nothing is
/// launched then, and a line on standard error has the numbers. Other errors are CUDA's. Resources held by
/// other kernels are not counted: these must end by themselves.
template <class... Parameters, class... Arguments>
cudaError_t cooperative_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                               cudaStream_t stream, const Arguments&... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "one argument for each parameter of the kernel");
    const auto blocks = static_cast<unsigned long long>(grid.x) * grid.y * grid.z;
    const auto threads = static_cast<unsigned long long>(block.x) * block.y * block.z;
    if (threads == 0 || threads > 1024 || blocks == 0) return cudaErrorInvalidConfiguration;
    int gpu = 0;
    const int whole = detail::whole_blocks(gpu, kernel, static_cast<int>(threads), shared_bytes);
    if (whole == 0 && cudaPeekAtLastError() != cudaSuccess) return cudaGetLastError();
    if (blocks > static_cast<unsigned long long>(atl::detail::resident_share(gpu, whole))) {
        atl::detail::say_grid_refused(gpu, blocks, static_cast<unsigned>(threads), whole);
        return cudaErrorCooperativeLaunchTooLarge;
    }
    const auto launch = [&](Parameters... values) {
        void* pointers[] = {static_cast<void*>(&values)..., nullptr};
        return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers,
                                           shared_bytes, stream);
    };
    return launch(static_cast<Parameters>(arguments)...);
}

}  // namespace atl::device
