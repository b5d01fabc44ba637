#include "collective/state.hpp"

#include "atoll/error.hpp"

namespace atl::collective {

State& State::of(core::TeamState& team) {
    if (!team.collective_state) [[unlikely]] {
        team.check_alive();
        team.collective_state = std::make_unique<State>(team);
    }
    return static_cast<State&>(*team.collective_state);
}

State::State(core::TeamState& team)
    : team_(team),
      job_(team.job()),
      choices_(Wishes(team.job().settings().algorithms), {team.crowded(), team.n_pes()}) {}

void State::release() noexcept {
    if (staging_) job_.arena_free(staging_);
    staging_ = nullptr;
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
