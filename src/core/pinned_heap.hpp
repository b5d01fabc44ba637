// Which parts of this PE's host heap kernels reach: chunks around blocks that the program named, never the
// sparse whole.
#pragma once

#include "heap/device_heap.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace atl::core {

/// Offsets are in the heap. What is pinned at once is one registration at the driver: a run of chunks.
class PinnedHeap {
  public:
    struct Range {
        std::size_t begin, end;
    };
    static constexpr std::size_t chunk_bytes = std::size_t{2} << 20;

    PinnedHeap(heap::DeviceHeap& gpu, char* heap, std::size_t bytes)
        : gpu_(gpu), heap_(heap), bytes_(bytes) {}

    /// The chunks in which the range lies, those that are not pinned yet. Throws Error(system, unsupported).
    void pin(Range range);
    /// The pages of `freed` are to go back to the system. Lets go of the runs there that are `unused` by now,
    /// and returns what may be given back; other runs keep their pages, which kernels would go on seeing.
    std::vector<Range> unpin(Range freed, const std::function<bool(Range)>& unused);

    /// Pinned or not.
    bool has(const void* address) const noexcept { return offset_of(address) < bytes_; }
    /// Kernels reach the whole range.
    bool covers(const void* address, std::size_t bytes) const;
    /// How many of the bytes at `address`, in the heap or not, the driver copies at once: a copy must not
    /// reach into a registration, or out of it.
    std::size_t piece(const void* address, std::size_t bytes) const;

  private:
    std::size_t offset_of(const void* address) const noexcept {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(heap_);
    }
    void show(Range run);
    /// The run that holds an offset, else the next behind it.
    std::map<std::size_t, std::size_t>::const_iterator run_at(std::size_t offset) const;

    heap::DeviceHeap& gpu_;
    char* const heap_;
    const std::size_t bytes_;
    mutable std::mutex mutex_;
    std::map<std::size_t, std::size_t> runs_;  ///< begin → end
    std::atomic<std::size_t> n_runs_{0};       ///< nobody takes the mutex while there are none
};

}  // namespace atl::core
