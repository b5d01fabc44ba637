// BorrowedLane: a stream of the library, borrowed for one blocking call.
#pragma once

#include "gpu/heap/device_memory.hpp"

namespace atl::gpu {

class BorrowedLane {
  public:
    enum class Staging : bool { none, pinned };

    BorrowedLane(const DeviceMemory& device, Staging staging)
        : BorrowedLane(device, device.take_lane(staging == Staging::pinned)) {
        if (staging == Staging::pinned) device.pin(lane_);  // if this throws, the lane is returned
    }
    ~BorrowedLane() { device_.give_lane_back(lane_); }
    BorrowedLane(const BorrowedLane&) = delete;
    BorrowedLane& operator=(const BorrowedLane&) = delete;

    /// DeviceMemory::lane_pinned_bytes of memory; only with Staging::pinned.
    char* pinned() const noexcept { return lane_.pinned; }
    /// Runs the call; complete on return.
    void run(const DeviceCall& call) const {
        device_.start(call, lane_.stream);
        device_.finish(lane_.stream);
    }

  private:
    BorrowedLane(const DeviceMemory& device, const DeviceMemory::Lane& lane) : device_(device), lane_(lane) {}

    const DeviceMemory& device_;
    DeviceMemory::Lane lane_;
};

}  // namespace atl::gpu
