// Reserved: memory reserved by all PEs, from which the members of a team allocate without the others.
#pragma once

#include "atoll/team.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace atl::core {

class JobBase;
class SymmetricHeap;

/// A block in a region of reserved memory, at the same offset on all members of its team.
struct ReservedSpan {
    std::uint64_t region = 0, start = 0, stop = 0;
    Team team;  ///< holds the context by which members put into the block
    char* address = nullptr;
    std::atomic<bool> is_used{true};  ///< until this PE drops the block
};

/// This PE's regions, in the order of their reservation, and the blocks that lie in them. PEs of one job have
/// the same regions, and those blocks of which they are members. Teams that share a PE allocate one after the
/// other.
class Reserved {
  public:
    Reserved(JobBase& job, SymmetricHeap& heap) : job_(job), heap_(heap) {}
    /// Adds a region. Collective over the world. Throws Error(out_of_memory).
    void add(std::size_t bytes);
    /// Returns a block of zeros at an offset that is free on all members. Collective over the team. A dropped
    /// block is free once all PEs of its team have dropped it and make this call. Throws
    /// Error(out_of_memory), on every member.
    std::shared_ptr<ReservedSpan> take(const Team& team, std::size_t bytes);
    /// Makes a block's memory free. Local; the members have met since the last access.
    void release(const ReservedSpan& span);
    /// Remembers the team of a block in the heap that this PE has dropped.
    void note_dropped(const Team& team);
    /// Completes the puts of such teams. Their contexts are not the world's.
    void complete_dropped_teams();

  private:
    struct Region {
        char* memory;
        std::size_t bytes;
        std::size_t written;  ///< bytes from the start that may differ from zero
    };
    using Words = std::vector<std::uint64_t>;

    void complete_dropped(const Team& team);
    std::set<Words> kept_by(const Team& team);
    std::optional<std::uint64_t> first_gap(const std::set<Words>& kept, std::uint64_t region,
                                           std::size_t bytes) const;
    std::shared_ptr<ReservedSpan> put_at(const Team& team, std::uint64_t region, std::uint64_t start,
                                         std::size_t bytes);
    [[noreturn]] void refuse(const Team& team, std::size_t bytes) const;

    JobBase& job_;
    SymmetricHeap& heap_;
    std::mutex mutex_;  ///< guards `spans_` and `dropped_teams_`
    std::vector<Team> dropped_teams_;
    std::vector<Region> regions_;
    std::vector<std::shared_ptr<ReservedSpan>> spans_;
};

}  // namespace atl::core
