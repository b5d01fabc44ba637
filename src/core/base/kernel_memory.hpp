// JobKernels, TeamKernels: the memory for kernels of a job and of its teams, which is agreed on when a team
// is made. `src/stream` fills it.
#pragma once

#include "atoll/types.hpp"
#include "core/base/stream_differences.hpp"
#include "gpu/heap/stream_range.hpp"
#include "gpu/kernel_ranges.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace atl::device {
struct Watch;
}

namespace atl::core {

/// A PE's memory for kernels that its teams share.
struct JobKernels {
    std::size_t area_bytes = 0;  ///< bytes of all control blocks, at the start of every arena and device slot
    gpu::KernelRanges ranges;    ///< control blocks of teams; the world team has the first
    gpu::KernelRanges stream_ranges;         ///< for collectives on streams, of all teams but the world team
    std::mutex mutex;                        // guards offset_of
    std::map<int, std::uint64_t> offset_of;  ///< control block of each team in use, by its number
    /// Shared with teams, whose handles may outlive the job.
    std::shared_ptr<StreamDifferences> stream_differences = std::make_shared<StreamDifferences>();
    std::shared_ptr<device::Watch> host_watch;  ///< the words that functions of kernels on the host poll
};

/// A team's ranges in the memory of kernels.
struct TeamKernels {
    int key = 0;  ///< a number of the team that no other team of this PE has
    /// Offset of its control block, the same on all members; none: nothing was free.
    std::uint64_t offset = gpu::KernelRanges::none;
    gpu::StreamRange stream_range;  ///< memory of its collectives on streams
    std::once_flag once[2];         ///< one for each Memory: guards the filling of the control block

    bool has_range() const { return offset != gpu::KernelRanges::none; }
    bool ready(Memory memory) const {
        return ready_[static_cast<int>(memory)].load(std::memory_order_acquire);
    }
    void set_ready(Memory memory) { ready_[static_cast<int>(memory)].store(true, std::memory_order_release); }

  private:
    std::atomic<bool> ready_[2] = {};
};

}  // namespace atl::core
