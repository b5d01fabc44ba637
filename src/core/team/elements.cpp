#include "core/team/elements.hpp"

#include "core/base/job_base.hpp"
#include "core/team/team_state.hpp"

namespace atl::core {

Elements::Elements(const Team& team, std::uint64_t elements)
    : team_(team.state().job_base().compares_dtypes() ? &team.state() : nullptr) {
    if (team_) team_->elements = elements;
}

Elements::~Elements() {
    if (team_) team_->elements = 0;
}

}  // namespace atl::core
