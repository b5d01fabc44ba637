#include "core/team/context_state.hpp"

#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

#include <utility>

namespace atl::core {

ContextState::ContextState(TeamState& team, const ContextOptions& options, std::shared_ptr<TeamState> held)
    : job_(team.job()),
      team_(team),
      held_(std::move(held)),
      options_(options),
      transport_(team.job_base().shared_transport()) {
    if (transport_ && (held_ || team.number() != 0)) id_ = transport_->create_context();
}

ContextState::~ContextState() {
    if (id_ != 0) transport_->destroy_context(id_);
}

}  // namespace atl::core
