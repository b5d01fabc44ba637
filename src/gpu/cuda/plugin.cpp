// The function that the core looks up in libatoll_cuda.so.
#include "atoll/export.hpp"
#include "gpu/cuda/heap.hpp"

namespace {

std::unique_ptr<atl::gpu::DeviceHeap> open_heap(const atl::gpu::DeviceChoice& choice) {
    return std::make_unique<atl::cuda::Heap>(choice);
}

}  // namespace

extern "C" ATOLL_API const atl::gpu::DevicePlugin atoll_device_plugin{ATOLL_VERSION, open_heap,
                                                                      atl::cuda::embedded_text};
