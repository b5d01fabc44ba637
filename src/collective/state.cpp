#include "collective/state.hpp"

#include "atoll/error.hpp"

namespace atl::collective {

State& State::of(core::TeamState& team) {
    if (!team.collective_state) [[unlikely]]
        team.collective_state = std::make_shared<State>(team);
    return *static_cast<State*>(team.collective_state.get());
}

State::State(core::TeamState& team)
    : team_(team),
      job_(team.job()),
      choices_(Wishes(team.job().settings().algorithms), {team.crowded(), team.n_pes()}) {}

State::~State() {
    // A handle that is dropped without destroy leaves members behind who may still read.
    if (staging_ && team_.destroyed()) job_.arena_free(staging_);
}

char* State::staging() noexcept {
    if (!staging_) {
        try {
            staging_ = static_cast<char*>(job_.arena_allocate(2 * half_bytes));
        } catch (const Error&) {
            return nullptr;
        }
    }
    return staging_;
}

}  // namespace atl::collective
