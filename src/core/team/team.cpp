// Team: membership and splits. Its collectives are in src/collective.
#include "atoll/team.hpp"

#include "core/team/context_state.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>

namespace atl {

namespace {

Team team_of(std::shared_ptr<core::TeamState> state) { return state ? Team(std::move(state)) : Team(); }

}  // namespace

core::TeamState& Team::state() const {
    if (!state_)
        throw Error(ErrorCode::use_after_free,
                    "This team is empty: this PE is not a member of it, or it was never made.");
    return *state_;
}

int Team::my_pe() const { return state().my_pe(); }
int Team::n_pes() const { return state().n_pes(); }

int Team::world_pe(int pe) const {
    if (static_cast<unsigned>(pe) >= static_cast<unsigned>(n_pes())) detail::throw_pe(pe, n_pes());
    return state().world_pe(pe);
}

int Team::translate_pe(int pe, const Team& other) const {
    if (!state_ || !other.state_ || pe < 0 || pe >= n_pes()) return -1;
    return other.state().find(state().world_pe(pe));
}

Team Team::split_strided(int start, int stride, int size) const {
    core::TeamState& parent = state();
    parent.check_alive();
    const core::Meetings::Within within(parent.meetings(), "split_strided");
    const std::int64_t last = start + std::int64_t{stride} * (std::int64_t{size} - 1);
    const bool valid = size >= 1 && start >= 0 && start < parent.n_pes() && last >= 0 &&
                       last < parent.n_pes() && (stride != 0 || size == 1);
    if (!valid) {
        // Collective even when it fails: all must have passed the same arguments.
        parent.agree(core::call_record("split_strided", start, stride, size));
        throw Error(ErrorCode::invalid_argument,
                    "split_strided(start " + std::to_string(start) + ", stride " + std::to_string(stride) +
                        ", size " + std::to_string(size) + ") does not stay within the " +
                        std::to_string(parent.n_pes()) +
                        " PEs of the parent team. The size must be at least 1, and stride 0 needs size 1.");
    }
    const int steps = stride == 0 ? 0 : (parent.my_pe() - start) / stride;
    const bool member = stride == 0 ? parent.my_pe() == start
                                    : (parent.my_pe() - start) % stride == 0 && steps >= 0 && steps < size;
    return team_of(
        core::split(parent, member ? 0 : -1, steps, core::call_record("split_strided", start, stride, size)));
}

std::pair<Team, Team> Team::split_2d(int xrange) const {
    core::TeamState& parent = state();
    parent.check_alive();
    const core::Meetings::Within within(parent.meetings(), "split_2d");
    if (xrange < 1) {
        parent.agree(core::call_record("split_2d", xrange));
        throw Error(ErrorCode::invalid_argument,
                    "split_2d needs an extent of the first axis of at least 1; " + std::to_string(xrange) +
                        " was passed.");
    }
    const int width = std::min(xrange, parent.n_pes());
    const int x = parent.my_pe() % width;
    const int y = parent.my_pe() / width;
    Team row = team_of(core::split(parent, y, x, core::call_record("split_2d", xrange)));
    Team column = team_of(core::split(parent, x, y, core::call_record("split_2d", xrange)));
    return {std::move(row), std::move(column)};
}

Team Team::split(int color, int key) const {
    state().check_alive();
    return team_of(core::split(state(), color, key, core::call_record("split")));
}

void Team::destroy() { state().destroy(); }

Context Team::create_context(const ContextOptions& options) const {
    state().check_alive();
    return Context(std::make_shared<core::ContextState>(state(), options, state_));
}

const Context& Team::context() const { return state().context(); }

namespace {

/// A meeting with what comes before it: one call in statistics and reports.
[[gnu::cold, gnu::noinline]] void meet_in_parts(core::TeamState& team, const core::Called& call,
                                                bool is_barrier) {
    const core::Meetings::Within within(team.meetings(), call);
    if (is_barrier) team.context().quiet();
    team.meetings().agree_to(call.operation());
    team.sync(call);
}

}  // namespace

void Team::sync() const {
    core::TeamState& team = state();
    static constexpr core::Called call("sync");
    if (team.meetings().checks_all()) [[unlikely]]
        return meet_in_parts(team, call, false);
    team.sync(call);
}

void Team::barrier() const {
    core::TeamState& team = state();
    static constexpr core::Called call("barrier");
    if (team.context().window().orders || team.meetings().checks_all()) [[unlikely]]
        return meet_in_parts(team, call, true);
#if defined(__x86_64__)
    // If nothing is routed, quiet is a fence; so is the locked instruction by which a member arrives.
    const bool fenced = team.n_pes() > 1;
#else
    const bool fenced = false;
#endif
    if (!fenced) team.context().quiet();
    team.sync(call);
}

void Team::check_equal(std::size_t dst, std::size_t src) {
    if (dst != src)
        throw Error(ErrorCode::shape_mismatch, "The target has " + std::to_string(dst) +
                                                   " elements and the source " + std::to_string(src) +
                                                   "; they must have equally many.");
}

}  // namespace atl
