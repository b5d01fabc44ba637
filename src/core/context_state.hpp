// What a context is beyond the window: its team, and its number at the transport.
#pragma once

#include "atoll/context.hpp"
#include "transport/transport.hpp"

#include <memory>

namespace atl::core {

class JobState;
class TeamState;

class ContextState {
  public:
    /// The default context of a team is owned by it; any other holds its team, whose tables it reads.
    ContextState(JobState& job, TeamState& team, const ContextOptions& options,
                 std::shared_ptr<TeamState> held);
    /// Local; completes what is outstanding.
    ~ContextState();
    ContextState(const ContextState&) = delete;
    ContextState& operator=(const ContextState&) = delete;

    JobState& job() const { return job_; }
    TeamState& team() const { return team_; }
    const ContextOptions& options() const { return options_; }
    transport::ContextId id() const { return id_; }

  private:
    JobState& job_;
    TeamState& team_;
    std::shared_ptr<TeamState> held_;
    ContextOptions options_;
    std::shared_ptr<transport::Transport> transport_;  ///< held: a context may go after its job has ended
    transport::ContextId id_ = 0;
};

}  // namespace atl::core
