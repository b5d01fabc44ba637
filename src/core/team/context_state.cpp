#include "core/team/context_state.hpp"

#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <utility>

namespace atl::core {

namespace {

constexpr int moves = 4096;

/// Number of the moves that are noted.
int first_moves(const common::Settings& settings) {
    return settings.front_notes_writes || !settings.checks(common::CheckLevel::basic) ? 0 : moves;
}

}  // namespace

ContextState::ContextState(TeamState& team, const ContextOptions& options, std::shared_ptr<TeamState> held)
    : job_(team.job()),
      team_(team),
      held_(std::move(held)),
      options_(options),
      transport_(team.job_base().transport()),
      first_moves_(first_moves(team.job_base().settings())) {
    if (transport_ && (held_ || team.number() != 0)) id_ = transport_->create_context();
}

bool ContextState::note_again() noexcept {
    if (first_moves(job_.settings()) == 0) return false;
    first_moves_.store(moves, std::memory_order_relaxed);
    return true;
}

ContextState::~ContextState() {
    if (id_ != 0) transport_->destroy_context(id_);
}

}  // namespace atl::core
