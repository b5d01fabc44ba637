// TeamBlock: symmetric memory of the members of a team.
#pragma once

#include "atoll/job.hpp"

#include <utility>

namespace atl::core {
struct ReservedSpan;
}

namespace atl::detail {

/// An owned block of zeros at the same offset on all members of a team. A team of all PEs has it from the
/// heap, others from the memory of Job::reserve_for_teams. Construction and `free` are collective over the
/// team. The destructor is local: it marks the block as dropped by this PE.
class ATOLL_API TeamBlock {
  public:
    TeamBlock() = default;
    TeamBlock(Team team, std::size_t bytes);
    ~TeamBlock() { drop(); }
    TeamBlock(TeamBlock&& other) noexcept { swap(other); }
    TeamBlock& operator=(TeamBlock&& other) noexcept {
        if (this != &other) drop();
        swap(other);
        return *this;
    }
    TeamBlock(const TeamBlock&) = delete;
    TeamBlock& operator=(const TeamBlock&) = delete;

    void* address() const noexcept { return address_; }
    void free();

  private:
    void drop() noexcept;
    void swap(TeamBlock& other) noexcept {
        std::swap(team_, other.team_);
        std::swap(job_, other.job_);
        std::swap(span_, other.span_);
        std::swap(address_, other.address_);
        std::swap(serial_, other.serial_);
    }
    Team team_;
    std::weak_ptr<core::JobState> job_;
    std::shared_ptr<core::ReservedSpan> span_;  ///< null: the block lies in the heap
    void* address_ = nullptr;
    std::uint64_t serial_ = 0;
};

}  // namespace atl::detail
