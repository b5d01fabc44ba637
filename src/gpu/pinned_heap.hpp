// PinnedHeap: the parts of this PE's host heap that kernels can access: chunks around blocks that the program
// named, never the whole sparse heap.
#pragma once

#include "gpu/gpu_pinning.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace atl::gpu {

/// Offsets are in the heap. A run of chunks is one registration with the driver.
class PinnedHeap {
  public:
    struct Range {
        std::size_t begin, end;
    };
    static constexpr std::size_t chunk_bytes = std::size_t{2} << 20;

    PinnedHeap(GpuPinning& gpu, char* heap, std::size_t bytes) : gpu_(gpu), heap_(heap), bytes_(bytes) {}

    /// Pins the chunks of the range that are not pinned yet. Throws Error(system, unsupported).
    void pin(Range range);
    /// Unpins the runs of `freed` that are now `unused`. Returns the ranges whose pages may be released to
    /// the system. Other runs keep their pages, since kernels would keep the old ones mapped.
    std::vector<Range> unpin(Range freed, const std::function<bool(Range)>& unused);

    /// True for any address of the heap, pinned or not.
    bool has(const void* address) const noexcept { return offset_of(address) < bytes_; }
    /// True if kernels can access the whole range.
    bool covers(const void* address, std::size_t bytes) const;
    /// Number of the bytes at `address`, in the heap or not, that the driver copies at once. A copy must not
    /// cross the boundary of a registration.
    std::size_t piece(const void* address, std::size_t bytes) const;

  private:
    std::size_t offset_of(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(heap_);
    }
    void show(Range run);
    /// The run that contains an offset, else the next after it.
    std::map<std::size_t, std::size_t>::const_iterator run_at(std::size_t offset) const;

    GpuPinning& gpu_;
    char* const heap_;
    const std::size_t bytes_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::size_t> runs_;  ///< begin → end
    std::atomic<std::size_t> n_runs_{0};       ///< the mutex is not taken while it is 0
};

}  // namespace atl::gpu
