#include "gpu/heap/lanes.hpp"

#include <algorithm>

namespace atl::gpu {

Lane Lanes::take(bool pinned) {
    {
        const std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            const auto fits = [&](const Lane& lane) { return (lane.pinned != nullptr) == pinned; };
            const auto found = std::find_if(free_.rbegin(), free_.rend(), fits);
            std::swap(found == free_.rend() ? free_.back() : *found, free_.back());
            const Lane lane = free_.back();
            free_.pop_back();
            return lane;
        }
    }
    return {gpu_.executor().make_stream(), nullptr};
}

void Lanes::release(const Lane& lane) {
    const std::lock_guard lock(mutex_);
    free_.push_back(lane);
}

void Lanes::pin(Lane& lane) {
    if (!lane.pinned) lane.pinned = static_cast<char*>(gpu_.pinning().pin(lane_pinned_bytes));
}

Lane Lanes::take_pinned() {
    Lane lane = take(true);
    pin(lane);
    return lane;
}

}  // namespace atl::gpu
