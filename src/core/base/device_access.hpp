// DeviceAccess: a PE's access to its GPU, which the first allocation of device memory opens. The rest of
// `src/core` gets the classes of `src/gpu` from this file (docs/decisions/0056-gpus-in-core.md).
#pragma once

#include "core/base/stream_services.hpp"
#include "gpu/heap/device_memory.hpp"

#include <atomic>
#include <memory>
#include <utility>

namespace atl::core {

class JobBase;

/// The job's access to its GPU. It owns the services of streams, which own this PE's DeviceMemory.
class DeviceAccess {
  public:
    DeviceAccess(JobBase& job, const UpperLayers& upper);
    ~DeviceAccess();
    DeviceAccess(const DeviceAccess&) = delete;
    DeviceAccess& operator=(const DeviceAccess&) = delete;

    /// True if `memory` is set, for callers that need not know that class.
    const std::atomic<bool>& is_open() const { return is_open_; }
    /// Null until a PE's program first allocates device memory.
    const gpu::DeviceMemory* memory() const { return opened_.load(std::memory_order_acquire); }
    /// The same, for the owner of the heap. Remains until `close`.
    gpu::DeviceMemory* owned() { return services_ ? &services_->memory() : nullptr; }
    bool holds(const void* block) const { return memory() && memory()->in_window(block); }
    /// The services of streams; null without `memory`.
    StreamServices* services() const { return memory() ? services_.get() : nullptr; }
    /// Opens the GPU if it is not open. Collective.
    gpu::DeviceMemory& open();
    /// See UpperLayers.
    void release_kernels(TeamState& team) const noexcept { upper_.release_kernels(team); }
    /// Replaces libatoll_cuda.so, before the first allocation: for tests.
    void open_by(gpu::OpenDevice open) { open_ = std::move(open); }
    /// Empty: libatoll_cuda.so opens the GPU.
    const gpu::OpenDevice& replacement() const { return open_; }

    // ---- the end, in this order
    /// Ends the threads of the services. No stream may be in use any more.
    void end_services() noexcept;
    /// Lets the program's calls find no GPU.
    void hide() noexcept;
    /// Frees the memory. Called after the transport has closed, which may send from pinned memory.
    void close() noexcept;
    /// Gives everything up without freeing it: a forked child does not own the GPU.
    void abandon() noexcept;

  private:
    JobBase& job_;
    const UpperLayers& upper_;
    gpu::OpenDevice open_;
    std::unique_ptr<StreamServices> services_;
    std::atomic<const gpu::DeviceMemory*> opened_{nullptr};
    std::atomic<bool> is_open_{false};
};

}  // namespace atl::core
