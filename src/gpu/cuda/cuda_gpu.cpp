#include "gpu/cuda/cuda_gpu.hpp"

#include "atoll/error.hpp"
#include "common/text.hpp"
#include "gpu/cuda/device.hpp"

#include <fcntl.h>

namespace atl::cuda {

PrimaryContext::PrimaryContext(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {
    driver.check(driver.retain_context(&context_, device), "make a context on GPU " + std::to_string(device));
}

PrimaryContext::Current::Current(const PrimaryContext& context) : driver_(context.driver_) {
    CUcontext current = nullptr;
    if (driver_.current_context(&current) == CUDA_SUCCESS && current == context.context_) return;
    pushed_ = true;
    driver_.check(driver_.push_context(context.context_), "use its context");
}

PrimaryContext::Current::~Current() {
    if (!pushed_) return;
    CUcontext popped = nullptr;
    driver_.pop_context(&popped);
}

CudaGpu::CudaGpu(const gpu::DeviceChoice& choice)
    : driver_(Driver::get()),
      device_(choose_device(driver_, choice)),
      facts_(describe_device(driver_, device_)),
      context_(driver_, device_) {
    const PrimaryContext::Current current(context_);
    stream_ = static_cast<CUstream>(make_stream());
    kernels_.emplace(driver_, device_);
    facts_.resident_blocks = kernels_->resident_blocks();
    word_ = static_cast<std::uint64_t*>(pin(sizeof *word_));
}

/// Errors are ignored: at the end of a process the driver may already be unloaded.
CudaGpu::~CudaGpu() {
    const bool is_current = driver_.push_context(context_.get()) == CUDA_SUCCESS;
    while (!chunks_.empty()) withdraw();
    for (const Chunk& view : views_) unmap(view);
    for (void* pages : shown_) driver_.unregister_host(pages);
    if (window_ != 0) driver_.free_addresses(window_, stride_bytes * static_cast<std::size_t>(n_slots_));
    for (void* memory : pinned_) driver_.free_pinned(memory);
    for (CUstream stream : streams_) driver_.destroy_stream(stream);
    kernels_.reset();
    CUcontext popped = nullptr;
    if (is_current) driver_.pop_context(&popped);
}

void CudaGpu::check_peer(const gpu::DeviceUuid& peer) const {
    if (peer == facts_.uuid) return;
    const CUdevice other = find_device(driver_, peer);
    if (other < 0) return;  // not visible to this process; mapping its memory will report it
    const auto named = [](CUdevice device, const std::string& which) {
        return "GPU " + std::to_string(device) + " (" + which + ")";
    };
    const std::string mine = named(device_, facts_.name + ", " + uuid_text(facts_.uuid));
    const std::string theirs = named(other, uuid_text(peer));
    int can = 0;
    driver_.check(driver_.can_access_peer(&can, device_, other), "say whether two GPUs reach each other");
    if (!can)
        throw Error(ErrorCode::unsupported,
                    mine + " cannot access the memory of " + theirs +
                        ": there is neither NVLink nor PCIe peer access between them; see `nvidia-smi topo "
                        "-p2p r`.");
    int atomics = 0;
    driver_.check(
        driver_.peer_attribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, device_, other),
        "say whether atomics cross between two GPUs");
    if (!atomics)
        throw Error(ErrorCode::unsupported,
                    "The link between " + mine + " and " + theirs +
                        " has no native atomics, which signals and atomics need (PCIe has none); use GPUs "
                        "that NVLink connects, see `nvidia-smi topo -p2p a`.");
}

gpu::DeviceWindow CudaGpu::reserve(int n_slots, int my_slot) {
    const std::size_t bytes = stride_bytes * static_cast<std::size_t>(n_slots);
    const CUresult result = driver_.reserve(&window_, bytes, gpu::device_alignment, 0, 0);
    if (result != CUDA_SUCCESS)
        throw Error(ErrorCode::out_of_memory, "No addresses for a window of " + std::to_string(n_slots) +
                                                  " device heaps, " + common::bytes_text(bytes) + ": " +
                                                  driver_.text(result) +
                                                  "; lift the address space limit (ulimit -v).");
    n_slots_ = n_slots;
    my_slot_ = my_slot;
    return {slot(0), stride_bytes};
}

char* CudaGpu::slot(int i) const noexcept {
    return reinterpret_cast<char*>(window_ + stride_bytes * static_cast<std::size_t>(i));
}

CUmemGenericAllocationHandle CudaGpu::create(std::size_t bytes) const {
    CUmemAllocationProp properties = shared_memory_on(device_);
    properties.allocFlags.gpuDirectRDMACapable = facts_.admits_networks ? 1 : 0;
    CUmemGenericAllocationHandle memory = 0;
    const CUresult result = driver_.create(&memory, bytes, &properties, 0);
    if (result == CUDA_SUCCESS) return memory;
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        driver_.fail(result, "give " + common::bytes_text(bytes) + " of memory");
    std::size_t free_bytes = 0, all_bytes = 0;
    const PrimaryContext::Current current(context_);
    driver_.memory_info(&free_bytes, &all_bytes);
    throw Error(ErrorCode::out_of_memory, "The device heap needs " + common::bytes_text(bytes) +
                                              " more, but GPU " + std::to_string(device_) + " (" +
                                              facts_.name + ") has " + common::bytes_text(free_bytes) +
                                              " free of " + common::bytes_text(all_bytes) +
                                              ". Free unused memory, here or in other programs on that GPU.");
}

/// Maps memory as a chunk of a slot, for loads and stores of this PE's GPU. Releases the handle; the mapping
/// keeps the memory.
void CudaGpu::map(Chunk& chunk, int slot, CUmemGenericAllocationHandle memory) {
    const CUdeviceptr at = reinterpret_cast<CUdeviceptr>(this->slot(slot) + chunk.offset);
    CUresult result = driver_.map(at, chunk.bytes, 0, memory, 0);
    if (result == CUDA_SUCCESS) {
        CUmemAccessDesc access{};
        access.location = shared_memory_on(device_).location;
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        result = driver_.set_access(at, chunk.bytes, &access, 1);
        if (result != CUDA_SUCCESS) driver_.unmap(at, chunk.bytes);
    }
    driver_.release(memory);
    if (result != CUDA_SUCCESS)
        throw Error(ErrorCode::unsupported,
                    "GPU " + std::to_string(device_) + " (" + facts_.name + ", " + uuid_text(facts_.uuid) +
                        ") cannot map the memory of PE " + std::to_string(slot) +
                        "'s GPU: " + driver_.text(result) +
                        "; two GPUs need NVLink or PCIe peer access, see `nvidia-smi topo -p2p r`.");
    chunk.mapped[static_cast<std::size_t>(slot)] = true;
}

common::Fd CudaGpu::export_memory(CUmemGenericAllocationHandle memory) const {
    int fd = -1;
    driver_.check(driver_.export_handle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                  "make a descriptor of its memory (see `ulimit -n`)");
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return common::Fd(fd);
}

common::Fd CudaGpu::extend(std::size_t bytes) {
    const CUmemGenericAllocationHandle memory = create(bytes);
    common::Fd descriptor;
    try {
        descriptor = export_memory(memory);
    } catch (...) {
        driver_.release(memory);
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

CUmemGenericAllocationHandle CudaGpu::import_memory(int slot, const common::Fd& memory) const {
    CUmemGenericAllocationHandle handle = 0;
    driver_.check(
        driver_.import_handle(&handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(memory.get())),
                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        "take the memory of PE " + std::to_string(slot) + "'s GPU by its descriptor");
    return handle;
}

void CudaGpu::map_peer(int slot, const common::Fd& chunk) {
    map(chunks_.back(), slot, import_memory(slot, chunk));
}

void CudaGpu::unmap(const Chunk& chunk) noexcept {
    for (int i = 0; i < n_slots_; ++i)
        if (chunk.mapped[static_cast<std::size_t>(i)])
            driver_.unmap(reinterpret_cast<CUdeviceptr>(slot(i) + chunk.offset), chunk.bytes);
}

void CudaGpu::withdraw() noexcept {
    unmap(chunks_.back());
    chunks_.pop_back();
}

void* CudaGpu::show(void* pages, std::size_t bytes) {
    const PrimaryContext::Current current(context_);
    driver_.check(
        driver_.register_host(pages, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP),
        "pin " + common::bytes_text(bytes) + " of the host's memory (see `ulimit -l`)");
    {
        const std::lock_guard lock(made_mutex_);
        shown_.push_back(pages);
    }
    CUdeviceptr seen = 0;
    driver_.check(driver_.host_as_device(&seen, pages, 0), "show pinned memory of the host to the GPU");
    return reinterpret_cast<void*>(seen);
}

void CudaGpu::show_network_puts() {
    const PrimaryContext::Current current(context_);
    driver_.check(driver_.show_network_writes(CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
                                              CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES),
                  "show what networks wrote into its memory");
}

void CudaGpu::make_current() const {
    CUcontext current = nullptr;
    if (driver_.current_context(&current) == CUDA_SUCCESS && current == context_.get()) return;
    driver_.check(driver_.push_context(context_.get()), "use its context");
}

void CudaGpu::hide(void* pages) noexcept {
    const bool is_current = driver_.push_context(context_.get()) == CUDA_SUCCESS;
    driver_.unregister_host(pages);
    CUcontext popped = nullptr;
    if (is_current) driver_.pop_context(&popped);
    const std::lock_guard lock(made_mutex_);
    std::erase(shown_, pages);
}

void CudaGpu::finish_copy(CUresult started, const char* doing, const void* dst, std::size_t bytes) const {
    const CUresult result = started == CUDA_SUCCESS ? driver_.synchronize(stream_) : started;
    if (result != CUDA_SUCCESS) [[unlikely]]
        driver_.fail(result, std::string(doing) + " " + common::bytes_text(bytes) + " to " +
                                 common::address_text(dst));
}

void CudaGpu::copy(void* dst, const void* src, std::size_t bytes) {
    const PrimaryContext::Current current(context_);
    finish_copy(
        driver_.copy(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src), bytes, stream_),
        "copy", dst, bytes);
}

void CudaGpu::begin_copy(void* dst, const void* src, std::size_t bytes, gpu::StreamHandle stream) {
    const PrimaryContext::Current current(context_);
    driver_.check(driver_.copy(reinterpret_cast<CUdeviceptr>(dst), reinterpret_cast<CUdeviceptr>(src), bytes,
                               static_cast<CUstream>(stream)),
                  "copy " + common::bytes_text(bytes));
}

void CudaGpu::fill(void* dst, unsigned char value, std::size_t bytes) {
    const PrimaryContext::Current current(context_);
    finish_copy(driver_.fill(reinterpret_cast<CUdeviceptr>(dst), value, bytes, stream_), "fill", dst, bytes);
}

}  // namespace atl::cuda
