#include "collective/state.hpp"

#include "atoll/error.hpp"

#include <cstring>

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
      choices_(team.job().settings().algorithms,
               {team.meetings().is_oversubscribed(), team.n_pes(), team.spread() != nullptr}) {}

void State::release() noexcept {
    if (staging_) job_.arena().free(staging_);
    staging_ = nullptr;
    if (fetched_owned_) job_.arena().free(fetched_);
    fetched_ = nullptr;
}

char* State::fetched() {
    if (fetched_asked_) return fetched_;
    fetched_asked_ = true;
    core::TeamState& near = spread()->local();
    std::uint64_t offset = 0;
    if (near.my_pe() == 0) {
        try {
            fetched_ = static_cast<char*>(job_.arena().allocate(2 * fetched_bytes));
            fetched_owned_ = true;
            offset = job_.arena().offset(fetched_) + 1;
        } catch (const Error&) {
            offset = 0;
        }
    }
    near.exchange("a collective", &offset, sizeof offset);
    std::memcpy(&offset, near.exchanged(0), sizeof offset);
    fetched_ = offset == 0 ? nullptr : static_cast<char*>(job_.arena().address(near.world_pe(0), offset - 1));
    return fetched_;
}

char* State::staging() noexcept {
    if (!staging_) {
        try {
            staging_ = static_cast<char*>(job_.arena().allocate(2 * half_bytes));
        } catch (const Error&) {
            return nullptr;
        }
    }
    return staging_;
}

}  // namespace atl::collective
