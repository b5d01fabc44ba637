// Symmetric memory of PyTorch for CUDA tensors, as symmetric.hpp for those of CPUs.
#pragma once

#include "symmetric.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace atoll_c10d {

/// The fourth table of libatoll; set when the module is loaded.
inline const atoll_device_memory_table* device_memory_table = nullptr;

/// A block of GPU memory on each rank of a group. It stays mapped while this object lives.
class JoinedGpuBlocks {
  public:
    /// Exchanges blocks with the other ranks. Collective.
    static std::shared_ptr<JoinedGpuBlocks> join(const Ranks& ranks, const atoll_device_block& block);
    /// Waits for this process's work on the GPU, which may use the other ranks' memory.
    ~JoinedGpuBlocks();
    JoinedGpuBlocks(const JoinedGpuBlocks&) = delete;
    JoinedGpuBlocks& operator=(const JoinedGpuBlocks&) = delete;

    int rank() const { return twins_->rank(); }
    int size() const { return twins_->size(); }
    const atoll_device_block& block() const { return block_; }
    c10::Device device() const {
        return c10::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(block_.device));
    }
    const std::vector<void*>& data() const { return data_; }
    const std::vector<void*>& pads() const { return pads_; }
    void** data_on_gpu() const { return static_cast<void**>(tables_.data_ptr()); }
    void** pads_on_gpu() const { return data_on_gpu() + size(); }
    /// Enqueues, on the current stream, a wait until rank `from`'s word of a channel in the pad of rank `at`
    /// is `before`. Then it becomes `after`.
    void exchange(int at, int channel, int from, unsigned before, unsigned after, std::size_t timeout_ms,
                  const char* operation) const;

  private:
    JoinedGpuBlocks(std::shared_ptr<JoinedBlocks> twins, const atoll_device_block& block, double timeout_s)
        : twins_(std::move(twins)), block_(block), timeout_s_(timeout_s) {}
    void map(const Ranks& ranks);

    std::shared_ptr<JoinedBlocks> twins_;  ///< by which libatoll counts the processes that hold the blocks
    atoll_device_block block_;
    double timeout_s_;
    std::vector<void*> data_, pads_;
    at::Tensor tables_;  ///< copies of data_ and pads_ in memory of the GPU
};

/// The handle that rendezvous returns.
class GpuSymmetricMemory : public c10d::symmetric_memory::SymmetricMemory {
  public:
    GpuSymmetricMemory(std::shared_ptr<JoinedGpuBlocks> blocks, std::size_t offset, HandleGroup group)
        : blocks_(std::move(blocks)), offset_(offset), group_(std::move(group)) {}

    std::vector<void*> get_buffer_ptrs() override { return blocks_->data(); }
    std::vector<void*> get_signal_pad_ptrs() override { return blocks_->pads(); }
    void** get_buffer_ptrs_dev() override { return blocks_->data_on_gpu(); }
    void** get_signal_pad_ptrs_dev() override { return blocks_->pads_on_gpu(); }
    std::size_t get_buffer_size() override { return blocks_->block().bytes; }
    std::size_t get_offset() override { return offset_; }
    bool has_multicast_support() override { return false; }
    void* get_multicast_ptr() override { return nullptr; }
    void barrier(int channel, std::size_t timeout_ms) override;
    void put_signal(int dst_rank, int channel, std::size_t timeout_ms) override;
    void wait_signal(int src_rank, int channel, std::size_t timeout_ms) override;
    int get_rank() override { return blocks_->rank(); }
    int get_world_size() override { return blocks_->size(); }
    c10::Device get_device() override { return blocks_->device(); }
    bool world_within_direct_access() override { return true; }

  private:
    std::shared_ptr<JoinedGpuBlocks> blocks_;
    std::size_t offset_;
    HandleGroup group_;
};

class GpuSymmetricAllocator : public c10d::symmetric_memory::SymmetricMemoryAllocator {
  public:
    void* alloc(std::size_t size, int device, const std::optional<std::string>& group) override;
    void free(void* data) override;
    std::size_t get_alloc_size(void* data) override;
    /// Null for memory of another allocator, as PyTorch's own backends return it.
    c10::intrusive_ptr<c10d::symmetric_memory::SymmetricMemory> rendezvous(
        void* address, const std::optional<std::string>& group) override;
    bool has_multicast_support(int) override { return false; }
    c10::DeviceType supported_device_type() override { return c10::kCUDA; }
    std::string name() override { return symmetric_backend; }
    // PyTorch 2.11 has no such function, hence no `override`.
    bool has_allocation(void* address);

  private:
    Rendezvous rendezvous_;
};

/// The allocator of this process.
c10::intrusive_ptr<c10d::symmetric_memory::SymmetricMemoryAllocator> gpu_symmetric_allocator();

}  // namespace atoll_c10d
