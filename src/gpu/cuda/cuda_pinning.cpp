#include "gpu/cuda/cuda_pinning.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"

namespace atl::cuda {

CudaPinning::~CudaPinning() {
    const PrimaryContext::Ending current(device_.context);
    for (void* pages : shown_) device_.driver.unregister_host(pages);
    for (void* memory : pinned_) device_.driver.free_pinned(memory);
}

void* CudaPinning::pin(std::size_t bytes) {
    const PrimaryContext::Current current(device_.context);
    void* memory = nullptr;
    device_.driver.check(device_.driver.allocate_pinned(&memory, bytes, 0),
                         "pin " + common::bytes_text(bytes) + " of the host's memory");
    const std::lock_guard lock(mutex_);
    pinned_.push_back(memory);
    return memory;
}

void* CudaPinning::show(void* pages, std::size_t bytes) {
    const PrimaryContext::Current current(device_.context);
    device_.driver.check(device_.driver.register_host(
                             pages, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP),
                         "pin " + common::bytes_text(bytes) + " of the host's memory (see `ulimit -l`)");
    {
        const std::lock_guard lock(mutex_);
        shown_.push_back(pages);
    }
    CUdeviceptr seen = 0;
    device_.driver.check(device_.driver.host_as_device(&seen, pages, 0),
                         "show pinned memory of the host to the GPU");
    return reinterpret_cast<void*>(seen);
}

void CudaPinning::hide(void* pages) noexcept {
    {
        const PrimaryContext::Ending current(device_.context);
        device_.driver.unregister_host(pages);
    }
    const std::lock_guard lock(mutex_);
    std::erase(shown_, pages);
}

bool CudaPinning::reaches(const void* address) const {
    if (memory_.in_window(address)) return true;
    const auto at = reinterpret_cast<CUdeviceptr>(address);
    // Queried together: then an unknown address is not an error, which tools would report.
    unsigned type = 0;
    int owner = device_.number;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void* found[] = {&type, &owner};
    if (device_.driver.pointer_attributes(2, wanted, found, at) != CUDA_SUCCESS || type == 0) return false;
    if (type == CU_MEMORYTYPE_DEVICE && owner != device_.number)
        throw Error(ErrorCode::invalid_argument,
                    "The memory at " + common::address_text(address) + " is of GPU " + std::to_string(owner) +
                        ", this PE's device heap is on GPU " + std::to_string(device_.number) + " (" +
                        device_.facts.name + "); allocate with that GPU current (cudaSetDevice).");
    return true;
}

bool CudaPinning::is_on_gpu(const void* address) const {
    if (memory_.in_window(address)) return true;
    unsigned type = 0;
    unsigned managed = 0;
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* found[] = {&type, &managed};
    const auto at = reinterpret_cast<CUdeviceptr>(address);
    return device_.driver.pointer_attributes(2, wanted, found, at) == CUDA_SUCCESS &&
           type == CU_MEMORYTYPE_DEVICE && managed == 0;
}

void CudaPinning::show_network_puts() {
    const PrimaryContext::Current current(device_.context);
    device_.driver.check(
        device_.driver.show_network_writes(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                           CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES),
        "show what networks wrote into its memory");
}

void CudaPinning::make_current() const {
    CUcontext current = nullptr;
    if (device_.driver.current_context(&current) == CUDA_SUCCESS && current == device_.context.get()) return;
    device_.driver.check(device_.driver.push_context(device_.context.get()), "use its context");
}

}  // namespace atl::cuda
