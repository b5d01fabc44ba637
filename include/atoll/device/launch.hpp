// Launching kernels whose blocks wait for one another or for other PEs: all of them must be resident at once,
// or those that run wait for ever for those that do not. For CUDA C++ with CUDA's runtime.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace atl::device {

/// The most blocks of `threads` threads that can be resident at once on the current GPU; 0: not even one, or
/// an error.
template <class... Parameters>
int most_resident_blocks(void (*kernel)(Parameters...), int threads, std::size_t shared_bytes = 0) {
    int gpu = 0, multiprocessors = 0, each = 0;
    if (cudaGetDevice(&gpu) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu) != cudaSuccess)
        return 0;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes) != cudaSuccess)
        return 0;
    return each * multiprocessors;
}

/// Launches `kernel` on `stream` so that all of its blocks run at once. Local, asynchronous.
/// cudaErrorCooperativeLaunchTooLarge: the grid cannot be resident (see most_resident_blocks), nothing was
/// launched; else as CUDA says. What other kernels hold is not counted: these must end by themselves.
template <class... Parameters, class... Arguments>
cudaError_t cooperative_launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                               cudaStream_t stream, const Arguments&... arguments) {
    static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                  "one argument for each parameter of the kernel");
    const auto blocks = static_cast<unsigned long long>(grid.x) * grid.y * grid.z;
    const auto threads = static_cast<unsigned long long>(block.x) * block.y * block.z;
    if (threads == 0 || threads > 1024 || blocks == 0) return cudaErrorInvalidConfiguration;
    const int most = most_resident_blocks(kernel, static_cast<int>(threads), shared_bytes);
    if (most == 0 && cudaPeekAtLastError() != cudaSuccess) return cudaGetLastError();
    if (blocks > static_cast<unsigned long long>(most)) return cudaErrorCooperativeLaunchTooLarge;
    const auto launch = [&](Parameters... values) {
        void* pointers[] = {static_cast<void*>(&values)..., nullptr};
        return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, pointers,
                                           shared_bytes, stream);
    };
    return launch(static_cast<Parameters>(arguments)...);
}

}  // namespace atl::device
