// ContextState: a context's team, and its number at the transport.
#pragma once

#include "atoll/context.hpp"
#include "atoll/detail/measured.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <cstdint>
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
    /// In traces: 0 for a team's default context, and a number of its own for every other one of this PE.
    std::uint32_t number() const { return number_; }
    ATOLL_API void note_in(detail::Measured& measured) const noexcept;

    /// True while moves are noted for hang reports: the first ones of a context, and later ones of a program
    /// that makes few a second. They take slow paths for that.
    bool notes_moves() const noexcept { return first_moves_.load(std::memory_order_relaxed) > 0; }
    /// Counts one of them. False for the last one.
    bool notes_next_move() noexcept {
        const int left = first_moves_.fetch_sub(1, std::memory_order_relaxed);
        if (left == moves) [[unlikely]]
            begin_moves();
        return left > 1 || goes_on();
    }
    /// Time of a move from which on a program makes few. To note a move takes 1 % of this time
    /// (docs/measurements/2026-11-24-constants.md). Tests set it.
    static std::atomic<std::uint64_t> seldom_ns;
    /// Lets moves be noted once more. False if a language front notes them.
    bool note_again() noexcept;

  private:
    /// So many moves are noted at once.
    static constexpr int moves = 4096;
    void begin_moves() noexcept;
    /// Permits as many notes again if the program moves so rarely that notes cost it little.
    bool goes_on() noexcept;

    JobState& job_;
    TeamState& team_;
    std::shared_ptr<TeamState> held_;
    ContextOptions options_;
    std::shared_ptr<transport::Transport> transport_;  ///< held: a context may outlive its job
    transport::ContextId id_ = 0;
    std::uint32_t number_ = 0;
    std::atomic<int> first_moves_;
    std::atomic<std::uint64_t> moves_since_ns_{0};
};

/// Notes the context of a measured call in traces, where its quiet completes the non-blocking ones.
inline void note_context(detail::Measured& measured, const ContextState& ctx) noexcept {
    if (measured.is_on()) [[unlikely]]
        ctx.note_in(measured);
}

}  // namespace atl::core
