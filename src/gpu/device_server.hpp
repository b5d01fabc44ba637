// DeviceServer: serves this PE's device heap to PEs that reach it by a transport. A copy engine copies data.
// Words use the same kernels as all operations on words of this GPU, so all are atomic with one another.
#pragma once

#include "gpu/gpu.hpp"
#include "transport/transport.hpp"

namespace atl::gpu {

class DeviceServer final : public transport::DeviceOwner {
  public:
    /// Allocates its pinned memory. `base` and `bytes` are this PE's slot.
    DeviceServer(Gpu& gpu, char* base, std::size_t bytes);

    void put(std::uint64_t offset, const void* src, std::size_t bytes) override;
    void get(void* dst, std::uint64_t offset, std::size_t bytes) override;
    void put_blocks(std::uint64_t offset, const void* src, const transport::Blocks& blocks) override;
    void get_blocks(void* dst, std::uint64_t offset, const transport::Blocks& blocks) override;
    std::uint64_t atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                         std::uint64_t compare) override;
    void settle() override { executor_.finish(stream_); }
    char* pin_piece() override { return static_cast<char*>(pinning_.pin(piece_bytes)); }
    bool admits_networks() const override { return facts_.admits_networks; }
    void show_network_puts() override { pinning_.show_network_puts(); }
    bool is_gpu_memory() const override { return facts_.is_gpu_memory; }
    void make_current() const override { pinning_.make_current(); }

  private:
    static constexpr std::size_t ring_bytes = std::size_t{4} << 20;
    char* address_at(std::uint64_t offset, std::size_t bytes) const;
    /// Returns the next part of the ring. Its previous contents have been copied out.
    char* ring_for(std::size_t bytes);
    char* staged(const void* src, std::size_t bytes);

    const DeviceFacts& facts_;
    GpuExecutor& executor_;
    GpuPinning& pinning_;
    char* const base_;
    const std::size_t bytes_;
    const StreamHandle stream_;
    char* const ring_;  ///< ring_bytes of pinned memory, and a word for fetched values
    std::uint64_t* const fetched_;
    std::size_t used_ = 0;
};

}  // namespace atl::gpu
