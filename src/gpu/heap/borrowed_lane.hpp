// BorrowedLane: a stream of the library, borrowed for one blocking call.
#pragma once

#include "gpu/heap/device_memory.hpp"

namespace atl::gpu {

class BorrowedLane {
  public:
    enum class Staging : bool { none, pinned };

    BorrowedLane(const DeviceMemory& device, Staging staging)
        : BorrowedLane(device, device.lanes().take(staging == Staging::pinned)) {
        if (staging == Staging::pinned) device.lanes().pin(lane_);  // if this throws, the lane is returned
    }
    ~BorrowedLane() { device_.lanes().release(lane_); }
    BorrowedLane(const BorrowedLane&) = delete;
    BorrowedLane& operator=(const BorrowedLane&) = delete;

    /// lane_pinned_bytes of memory; only with Staging::pinned.
    char* pinned() const noexcept { return lane_.pinned; }
    /// Runs the call; complete on return.
    void run(const DeviceCall& call) const {
        device_.streams().start(call, lane_.stream);
        device_.streams().finish(lane_.stream);
    }

  private:
    BorrowedLane(const DeviceMemory& device, const Lane& lane) : device_(device), lane_(lane) {}

    const DeviceMemory& device_;
    Lane lane_;
};

}  // namespace atl::gpu
