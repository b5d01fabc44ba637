// ContextState: a context's team, and its number at the transport.
#pragma once

#include "atoll/context.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <memory>

namespace atl::core {

class JobState;
class TeamState;

class ContextState {
  public:
    /// A team owns its default context. Any other context holds its team, whose tables it reads.
    ContextState(TeamState& team, const ContextOptions& options, std::shared_ptr<TeamState> held);
    /// Local; completes outstanding operations.
    ~ContextState();
    ContextState(const ContextState&) = delete;
    ContextState& operator=(const ContextState&) = delete;

    JobState& job() const { return job_; }
    TeamState& team() const { return team_; }
    const ContextOptions& options() const { return options_; }
    transport::ContextId id() const { return id_; }

    /// True while moves are noted for hang reports: the first ones of a context, which take slow paths for
    /// that. Faulty programs often make few.
    bool notes_moves() const noexcept { return first_moves_.load(std::memory_order_relaxed) > 0; }
    /// Counts one of the first. False for the last one.
    bool notes_next_move() noexcept { return first_moves_.fetch_sub(1, std::memory_order_relaxed) > 1; }
    /// Lets moves be noted once more. False if a language front notes them.
    bool note_again() noexcept;

  private:
    JobState& job_;
    TeamState& team_;
    std::shared_ptr<TeamState> held_;
    ContextOptions options_;
    std::shared_ptr<transport::Transport> transport_;  ///< held: a context may outlive its job
    transport::ContextId id_ = 0;
    std::atomic<int> first_moves_;
};

}  // namespace atl::core
