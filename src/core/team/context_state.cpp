#include "core/team/context_state.hpp"

#include "common/clock.hpp"
#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <utility>

namespace atl::core {

namespace {

bool are_moves_noted(const common::Settings& settings) {
    return !settings.front_notes_writes && settings.checks(common::CheckLevel::basic);
}

}  // namespace

ContextState::ContextState(TeamState& team, const ContextOptions& options, std::shared_ptr<TeamState> held)
    : job_(team.job()),
      team_(team),
      held_(std::move(held)),
      options_(options),
      transport_(team.job_base().transport()),
      first_moves_(are_moves_noted(team.job_base().settings()) ? moves : 0) {
    static std::atomic<std::uint32_t> created{0};
    if (held_) number_ = created.fetch_add(1, std::memory_order_relaxed) + 1;
    if (transport_ && (held_ || team.number() != 0)) id_ = transport_->create_context();
}

std::atomic<std::uint64_t> ContextState::seldom_ns{1500};

bool ContextState::note_again() noexcept {
    if (!are_moves_noted(team_.job_base().settings())) return false;
    first_moves_.store(moves, std::memory_order_relaxed);
    return true;
}

void ContextState::begin_moves() noexcept {
    moves_since_ns_.store(common::now_ns(), std::memory_order_relaxed);
}

bool ContextState::goes_on() noexcept {
    const std::uint64_t since = moves_since_ns_.load(std::memory_order_relaxed);
    return (common::now_ns() - since) / moves >= seldom_ns.load(std::memory_order_relaxed) && note_again();
}

void ContextState::note_in(detail::Measured& measured) const noexcept {
    measured.set_context(team_.meetings().recorded.team(), number_);
}

ContextState::~ContextState() {
    if (id_ != 0) transport_->destroy_context(id_);
}

}  // namespace atl::core
