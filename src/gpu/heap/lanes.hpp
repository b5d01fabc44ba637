// Lanes: the library's own streams, for calls of the host that block.
#pragma once

#include "gpu/gpu.hpp"

#include <cstddef>
#include <mutex>
#include <vector>

namespace atl::gpu {

/// A stream for one call at a time, so that it does not wait for another team's calls.
struct Lane {
    StreamHandle stream = nullptr;
    char* pinned = nullptr;  ///< lane_pinned_bytes of memory, allocated when first needed
};
inline constexpr std::size_t lane_pinned_bytes = std::size_t{1} << 20;

/// Keeps lanes for later calls: a stream takes longer to make than a copy. Thread-safe.
class Lanes {
  public:
    explicit Lanes(Gpu& gpu) : gpu_(gpu) {}
    Lanes(const Lanes&) = delete;
    Lanes& operator=(const Lanes&) = delete;

    /// Takes a free lane of the wanted kind if there is one. Pinned ones are kept for callers that need them.
    Lane take(bool pinned = false);
    Lane take_pinned();
    void release(const Lane& lane);
    /// Allocates the lane's pinned memory if it has none.
    void pin(Lane& lane);

  private:
    Gpu& gpu_;
    std::mutex mutex_;
    std::vector<Lane> free_;
};

}  // namespace atl::gpu
