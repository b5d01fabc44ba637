// A stream of the library's own, for as long as one call takes that returns when it is done.
#pragma once

#include "core/device_memory.hpp"

namespace atl::core {

class BorrowedLane {
  public:
    enum class Staging : bool { none, pinned };

    BorrowedLane(const DeviceMemory& device, Staging staging)
        : BorrowedLane(device, device.take_lane(staging == Staging::pinned)) {
        if (staging == Staging::pinned) device.pin(lane_);  // a lane that cannot be pinned goes back
    }
    ~BorrowedLane() { device_.give_lane_back(lane_); }
    BorrowedLane(const BorrowedLane&) = delete;
    BorrowedLane& operator=(const BorrowedLane&) = delete;

    /// DeviceMemory::lane_pinned_bytes; of Staging::pinned alone.
    char* pinned() const noexcept { return lane_.pinned; }
    /// Complete on return.
    void run(const heap::DeviceCall& call) const {
        device_.start(call, lane_.stream);
        device_.finish(lane_.stream);
    }

  private:
    BorrowedLane(const DeviceMemory& device, const DeviceMemory::Lane& lane) : device_(device), lane_(lane) {}

    const DeviceMemory& device_;
    DeviceMemory::Lane lane_;
};

}  // namespace atl::core
