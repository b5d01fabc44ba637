// Teams from a unique id: their members find each other by it, without a parent team.
#pragma once

#include "atoll/team.hpp"

#include <cstdint>
#include <mutex>
#include <vector>

namespace atl::core {

class JobBase;

/// The boards of the ids that this PE has created.
class TeamIds {
  public:
    /// Returns an id for one team, never 0. Local. Throws Error(out_of_memory).
    std::uint64_t make(JobBase& job);

  private:
    std::mutex mutex_;  // guards boards_
    std::vector<void*> boards_;
    std::uint16_t count_ = 0;
};

/// Makes the team of the `n_pes` PEs that call it with the same id. This PE gets number `my_pe` there.
/// Collective over these PEs. Throws Error: invalid_argument, collective_mismatch, out_of_memory, timeout.
Team make_team(JobBase& job, std::uint64_t id, int n_pes, int my_pe);

}  // namespace atl::core
