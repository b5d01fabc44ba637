// TeamGroup: the group of a team of a job, for its non-blocking collectives.
#pragma once

#include "collective/requests/group.hpp"
#include "core/team/team_state.hpp"

#include <memory>

namespace atl::requests {

class TeamGroup final : public core::TeamAttachment {
  public:
    /// The team's group, joined on first use. Local. Throws Error(unsupported) for members that do not share
    /// memory.
    static const std::shared_ptr<Group>& of(core::TeamState& team);
    explicit TeamGroup(core::TeamState& team);
    TeamGroup(const TeamGroup&) = delete;
    TeamGroup& operator=(const TeamGroup&) = delete;
    void release() noexcept override;

  private:
    core::TeamState& team_;
    char* area_;
    std::shared_ptr<Group> group_;
};

}  // namespace atl::requests
