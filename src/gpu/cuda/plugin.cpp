// The function that the core looks up in libatoll_cuda.so.
#include "atoll/export.hpp"
#include "gpu/cuda/cuda_gpu.hpp"

namespace {

std::unique_ptr<atl::gpu::Gpu> open_gpu(const atl::gpu::DeviceChoice& choice) {
    return std::make_unique<atl::cuda::CudaGpu>(choice);
}

}  // namespace

extern "C" ATOLL_API const atl::gpu::DevicePlugin atoll_device_plugin{ATOLL_VERSION, open_gpu,
                                                                      atl::cuda::embedded_text};
