// Selects the algorithm of a team's barriers and exchanges. The teams below know strategies as rows of
// `Meetings` alone.
#include "core/barriers/strategies.hpp"
#include "core/team/team_state.hpp"

namespace atl::core {

void Meetings::choose() {
    strategy_ = team_.spread()    ? &far
                : n_pes_ == 1     ? nullptr
                : oversubscribed_ ? &oversubscribed
                : n_pes_ == 2     ? &pair
                                  : &dissemination;
}

}  // namespace atl::core
