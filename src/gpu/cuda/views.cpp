// Maps existing memory of the GPU into the window.
#include "atoll/error.hpp"
#include "common/text.hpp"
#include "gpu/cuda/cuda_memory.hpp"

#include <algorithm>

namespace atl::cuda {

/// The identity of the physical allocation at an address; 0: none.
std::uint64_t CudaMemory::physical_block(const char* address) const noexcept {
    std::uint64_t id = 0;
    const CUresult result = device_.driver.pointer_attribute(&id, CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID,
                                                             reinterpret_cast<CUdeviceptr>(address));
    return result == CUDA_SUCCESS ? id : 0;
}

gpu::DeviceRange CudaMemory::enclosing(const void* memory, std::size_t bytes) const {
    const PrimaryContext::Current current(device_.context);
    const std::size_t granule = device_.facts.granularity_bytes;
    const auto down = [&](const char* address) {
        return address - reinterpret_cast<std::uintptr_t>(address) % granule;
    };
    CUmemGenericAllocationHandle handle = 0;
    for (const char* end : {static_cast<const char*>(memory),
                            static_cast<const char*>(memory) + (bytes == 0 ? 0 : bytes - 1)}) {
        if (!memory || in_window(end) ||
            device_.driver.retain(&handle, const_cast<char*>(down(end))) != CUDA_SUCCESS)
            handle = retained(memory ? down(end) : nullptr, granule);  // throws with the reason
        device_.driver.release(handle);
    }
    const char* begin = down(static_cast<const char*>(memory));
    const char* last = down(static_cast<const char*>(memory) + bytes - 1);
    const std::uint64_t first_block = physical_block(begin), last_block = physical_block(last);
    while (first_block != 0 && physical_block(begin - granule) == first_block) begin -= granule;
    while (last_block != 0 && physical_block(last + granule) == last_block) last += granule;
    return {begin, static_cast<std::size_t>(last - begin) + granule};
}

std::vector<std::size_t> CudaMemory::parts(const void* memory, std::size_t bytes) const {
    const PrimaryContext::Current current(device_.context);
    const std::size_t granule = device_.facts.granularity_bytes;
    if (!memory || bytes % granule != 0) return {bytes};
    std::vector<std::size_t> sizes;
    std::uint64_t block = 0;
    for (std::size_t at = 0; at < bytes; at += granule) {
        const std::uint64_t here = physical_block(static_cast<const char*>(memory) + at);
        if (sizes.empty() || here != block) sizes.push_back(0);
        sizes.back() += granule;
        block = here;
    }
    return sizes;
}

/// The allocation at an address, which it must fill. Throws Error(invalid_argument).
CUmemGenericAllocationHandle CudaMemory::retained(const void* memory, std::size_t bytes) const {
    const std::string what =
        "register_buffer: " + common::bytes_text(bytes) + " at " + common::address_text(memory);
    const auto refuse = [&](const std::string& why) {
        throw Error(
            ErrorCode::invalid_argument,
            what + " " + why +
                " Pass a whole allocation of cuMemCreate on this PE's GPU, or several side by side. They are "
                "made with CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: by PyTorch with "
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or by cuda.core's "
                "VirtualMemoryResource. Or allocate in the device heap, and copy.");
    };
    const std::size_t granule = device_.facts.granularity_bytes;
    if (!memory || bytes == 0 || reinterpret_cast<std::uintptr_t>(memory) % granule != 0 ||
        bytes % granule != 0)
        refuse("are not aligned: address and size must be multiples of " + common::bytes_text(granule) + ".");
    if (in_window(memory)) refuse("are in the device heap already.");
    CUmemGenericAllocationHandle handle = 0;
    if (device_.driver.retain(&handle, const_cast<void*>(memory)) != CUDA_SUCCESS)
        refuse("are not memory that cuMemCreate made (cudaMalloc's cannot be mapped elsewhere).");
    CUmemAllocationProp properties{};
    const auto* first = static_cast<const char*>(memory);
    const std::uint64_t block = physical_block(first);
    std::string wrong;
    if (device_.driver.properties(&properties, handle) != CUDA_SUCCESS ||
        (properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0)
        wrong = "cannot be given to other processes by a descriptor.";
    else if (properties.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
             properties.location.id != device_.number)
        wrong = "are not on this PE's GPU, number " + std::to_string(device_.number) + ".";
    else if (block != physical_block(first + bytes - 1) || block == physical_block(first - 1) ||
             block == physical_block(first + bytes))
        wrong = "are a part of an allocation.";
    if (!wrong.empty()) {
        device_.driver.release(handle);
        refuse(wrong);
    }
    return handle;
}

common::Fd CudaMemory::adopt(std::size_t offset, const void* memory, std::size_t bytes) {
    const PrimaryContext::Current current(device_.context);
    const CUmemGenericAllocationHandle handle = retained(memory, bytes);
    common::Fd descriptor;
    try {
        descriptor = export_memory(handle);
    } catch (...) {
        device_.driver.release(handle);
        throw;
    }
    views_.push_back({offset, bytes, std::vector<bool>(static_cast<std::size_t>(n_slots_))});
    try {
        map(views_.back(), my_slot_, handle);
    } catch (...) {
        views_.pop_back();
        throw;
    }
    return descriptor;
}

void CudaMemory::map_view(int slot, std::size_t offset, std::size_t, const common::Fd& memory) {
    for (Chunk& view : views_)
        if (view.offset == offset) map(view, slot, import_memory(slot, memory));
}

void CudaMemory::unmap_view(std::size_t offset) noexcept {
    const auto view =
        std::find_if(views_.begin(), views_.end(), [&](const Chunk& v) { return v.offset == offset; });
    if (view == views_.end()) return;
    unmap(*view);
    views_.erase(view);
}

}  // namespace atl::cuda
