#include "gpu/cuda/cuda_memory.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"
#include "gpu/cuda/device.hpp"

#include <fcntl.h>

namespace atl::cuda {

CudaMemory::~CudaMemory() {
    const PrimaryContext::Ending current(device_.context);
    while (!chunks_.empty()) withdraw();
    for (const Chunk& view : views_) unmap(view);
    for (const Chunk& chunk : foreign_) unmap(chunk);
    if (window_ != 0) device_.driver.free_addresses(window_, stride_ * static_cast<std::size_t>(n_slots_));
}

gpu::DeviceWindow CudaMemory::reserve(int n_slots, int my_slot, std::size_t stride) {
    const std::size_t bytes = stride * static_cast<std::size_t>(n_slots);
    const CUresult result = device_.driver.reserve(&window_, bytes, gpu::device_alignment, 0, 0);
    if (result != CUDA_SUCCESS)
        throw Error(ErrorCode::out_of_memory,
                    "No addresses for a window of " + std::to_string(n_slots) + " device heaps, " +
                        common::bytes_text(bytes) + ": " + device_.driver.text(result) +
                        "; lift the address space limit (ulimit -v), or destroy groups that you do not use.");
    stride_ = stride;
    n_slots_ = n_slots;
    my_slot_ = my_slot;
    return {slot(0), stride};
}

CUmemGenericAllocationHandle CudaMemory::create(std::size_t bytes) const {
    CUmemAllocationProp properties = shared_memory_on(device_.number);
    properties.allocFlags.gpuDirectRDMACapable = device_.facts.admits_networks ? 1 : 0;
    CUmemGenericAllocationHandle memory = 0;
    const CUresult result = device_.driver.create(&memory, bytes, &properties, 0);
    if (result == CUDA_SUCCESS) return memory;
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        device_.driver.fail(result, "give " + common::bytes_text(bytes) + " of memory");
    std::size_t free_bytes = 0, all_bytes = 0;
    const PrimaryContext::Current current(device_.context);
    device_.driver.memory_info(&free_bytes, &all_bytes);
    throw Error(ErrorCode::out_of_memory, "The device heap needs " + common::bytes_text(bytes) +
                                              " more, but GPU " + std::to_string(device_.number) + " (" +
                                              device_.facts.name + ") has " + common::bytes_text(free_bytes) +
                                              " free of " + common::bytes_text(all_bytes) +
                                              ". Free unused memory, here or in other programs on that GPU.");
}

/// Maps memory as a chunk of a slot, for loads and stores of this PE's GPU. Releases the handle; the mapping
/// keeps the memory.
void CudaMemory::map(Chunk& chunk, int slot, CUmemGenericAllocationHandle memory) {
    const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(this->slot(slot) + chunk.offset);
    CUresult result = device_.driver.map(at, chunk.bytes, 0, memory, 0);
    if (result == CUDA_SUCCESS) {
        CUmemAccessDesc access{};
        access.location = shared_memory_on(device_.number).location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        result = device_.driver.set_access(at, chunk.bytes, &access, 1);
        if (result != CUDA_SUCCESS) device_.driver.unmap(at, chunk.bytes);
    }
    device_.driver.release(memory);
    if (result != CUDA_SUCCESS)
        throw Error(ErrorCode::unsupported,
                    "GPU " + std::to_string(device_.number) + " (" + device_.facts.name + ", " +
                        uuid_text(device_.facts.uuid) + ") cannot map the memory of PE " +
                        std::to_string(slot) + "'s GPU: " + device_.driver.text(result) +
                        "; two GPUs need NVLink or PCIe peer access, see `nvidia-smi topo -p2p r`.");
    chunk.mapped[static_cast<std::size_t>(slot)] = true;
}

common::Fd CudaMemory::export_memory(CUmemGenericAllocationHandle memory) const {
    int fd = -1;
    device_.driver.check(
        device_.driver.export_handle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
        "make a descriptor of its memory (see `ulimit -n`)");
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return common::Fd(fd);
}

common::Fd CudaMemory::extend(std::size_t bytes) {
    const CUmemGenericAllocationHandle memory = create(bytes);
    common::Fd descriptor;
    try {
        descriptor = export_memory(memory);
    } catch (...) {
        device_.driver.release(memory);
        throw;
    }
    const std::size_t offset = chunks_.empty() ? 0 : chunks_.back().offset + chunks_.back().bytes;
    chunks_.push_back({offset, bytes, std::vector<bool>(static_cast<std::size_t>(n_slots_))});
    try {
        map(chunks_.back(), my_slot_, memory);
    } catch (...) {
        chunks_.pop_back();
        throw;
    }
    return descriptor;
}

CUmemGenericAllocationHandle CudaMemory::import_memory(int slot, const common::Fd& memory) const {
    CUmemGenericAllocationHandle handle = 0;
    device_.driver.check(device_.driver.import_handle(
                             &handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(memory.get())),
                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                         "take the memory of PE " + std::to_string(slot) + "'s GPU by its descriptor");
    return handle;
}

void CudaMemory::map_peer(int slot, const common::Fd& chunk) {
    map(chunks_.back(), slot, import_memory(slot, chunk));
}

void CudaMemory::map_chunk(int slot, std::size_t offset, std::size_t bytes, const common::Fd& chunk) {
    foreign_.push_back({offset, bytes, std::vector<bool>(static_cast<std::size_t>(n_slots_))});
    try {
        map(foreign_.back(), slot, import_memory(slot, chunk));
    } catch (...) {
        foreign_.pop_back();
        throw;
    }
}

void CudaMemory::unmap(const Chunk& chunk) noexcept {
    for (int i = 0; i < n_slots_; ++i)
        if (chunk.mapped[static_cast<std::size_t>(i)])
            device_.driver.unmap(reinterpret_cast<CUdeviceptr>(slot(i) + chunk.offset), chunk.bytes);
}

void CudaMemory::withdraw() noexcept {
    unmap(chunks_.back());
    chunks_.pop_back();
}

}  // namespace atl::cuda
