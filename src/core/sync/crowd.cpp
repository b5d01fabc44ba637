// Crowded meetings, when PEs outnumber cores. Each core's members count on one counter, the cores on another,
// and all but the last sleep on one word (docs/decisions/0013-oversubscribed-meetings.md).
//
// A turn of the scheduler costs more than anything else. The minimum for two PEs a core is one turn per core
// and meeting. So the last to enter on its core stays, passes, and enters the next meeting before it yields.
// It must therefore outwait later cores, but not when the awaited PEs need its own core. The second cost is
// cache lines between cores: with one counter a core, there is one to arrive and one to be released. These
// also carry an exchange's data if it fits.
// released, and these carry an exchange's data if they fit.
#include "common/clock.hpp"
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace atl::core {

using detail::reached;

/// Turns yielded before a wait begins. One is mostly enough, and saves the cost of setting up a wait.
constexpr int first_turns = 2;

namespace {

/// When this thread may move itself again. The system may move it back for reasons of its own, so the pause
/// grows each time.
struct Moves {
    std::uint64_t next_ns = 0;
    std::uint64_t pause_ns = 1'000'000;
    static constexpr std::uint64_t most_pause_ns = 1'000'000'000;

    bool may_move() {
        const std::uint64_t now = common::now_ns();
        if (now < next_ns) return false;
        next_ns = now + pause_ns;
        pause_ns = std::min(2 * pause_ns, most_pause_ns);
        return true;
    }
};
thread_local Moves moves;

/// The allowed core with the fewest members if this thread is better off there; else -1.
int less_crowded_core(const cpu_set_t& allowed, std::span<const std::uint16_t> members, int core) {
    int best = -1;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed) &&
            (best < 0 || members[static_cast<std::size_t>(i)] < members[static_cast<std::size_t>(best)]))
            best = i;
    return best >= 0 && members[static_cast<std::size_t>(best)] + 1 < members[static_cast<std::size_t>(core)]
               ? best
               : -1;
}

/// Moves this thread to a less crowded core. Three members on one core and one on another take three turns
/// instead of two, and the system may leave them so for long. Afterwards the thread may run on all allowed
/// cores again.
void move_away(ControlBlock& control, int n_pes, PlaceLine& mine) {
    if (!moves.may_move()) return;
    std::array<std::uint16_t, CPU_SETSIZE> members{};
    for (int i = 0; i < n_pes; ++i) {
        const int core = control.member(i).place.core.load(std::memory_order_relaxed);
        if (core >= 0 && core < CPU_SETSIZE) ++members[static_cast<std::size_t>(core)];
    }
    const int core = mine.core.load(std::memory_order_relaxed);
    cpu_set_t allowed;
    if (core < 0 || core >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    const int better = less_crowded_core(allowed, members, core);
    if (better < 0) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(better, &one);
    mine.core.store(better, std::memory_order_relaxed);
    control.groups.moved.store(1, std::memory_order_release);  // before the next member on this core polls
    if (::sched_setaffinity(0, sizeof one, &one) == 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace

bool TeamState::give_turns(const detail::Flag& flag, std::uint32_t epoch) const {
    if (job_.transport()) return false;
    for (int turn = 0; turn < first_turns; ++turn) {
        ::sched_yield();
        if (reached(flag.value.load(std::memory_order_acquire), epoch)) return true;
    }
    return false;
}

bool TeamState::meet_in_groups(std::uint32_t epoch, Arrival mine, const Crowd& crowd) {
    const std::uint32_t call = mine.fingerprint;
    note_core();
    MemberBlock& me = member(my_pe_);
    crowd.arrived(me, epoch).value.store(epoch, std::memory_order_release);
    const int home = me.place.group.load(std::memory_order_relaxed);
    GroupLine& group = member(home).group;
    const std::uint32_t size = group.size.load(std::memory_order_relaxed);
    const std::uint32_t members = size != 0 ? size : static_cast<std::uint32_t>(n_pes());
    auto& in_group = group.*crowd.in_group;
    const std::uint64_t counted =
        in_group.fetch_add(1 | std::uint64_t{call} << 32, std::memory_order_acq_rel);
    const auto before = static_cast<std::uint32_t>(counted);
    if (before + 1 == members) {
        const auto sum = static_cast<std::uint32_t>(counted >> 32) + call;
        const std::uint32_t ours = sum == members * call ? call : Called::differing;
        // No member counts before the meeting ends. Its end publishes these zeros and the new groups.
        in_group.store(0, std::memory_order_relaxed);
        if (crowd.carries) gather_group(home);
        GroupsLine& line = control_->groups;
        const std::uint32_t groups = std::max(line.groups.load(std::memory_order_relaxed), 1U);
        auto& in_team = line.*crowd.in_team;
        const std::uint32_t earlier = in_team.fetch_add(1 | ours << 8, std::memory_order_acq_rel);
        if ((earlier & 0xff) + 1 == groups) {
            in_team.store(0, std::memory_order_relaxed);
            if (crowd.carries) std::memcpy(control_->exchange_release.data, line.data, exchange_bytes);
            if (line.moved.load(std::memory_order_relaxed) != 0) regroup();
            const bool alike = ours == call && (((earlier >> 8) + ours - groups * call) & 0xffffff) == 0;
            crowd.call = alike ? call : Called::differing;
            set_flag(crowd.release, epoch);
            return alike;
        }
        // The missing members run on other cores, so this core has nothing better to do.
        if (groups <= static_cast<std::uint32_t>(job_.usable_cpus()) && look_for_a_turn(crowd.release, epoch))
            return crowd.call == call;
    }
    // The first member of its core in a meeting of the world. One thread at a time, and no PE waits for it.
    const auto cores = static_cast<std::uint32_t>(job_.usable_cpus());
    if (before == 0 && number_ == 0 && members > (static_cast<std::uint32_t>(n_pes()) + cores - 1) / cores &&
        control_->groups.moved.load(std::memory_order_relaxed) == 0) [[unlikely]]
        move_away(*control_, n_pes(), me.place);
    if (!give_turns(crowd.release, epoch)) wait_flag(mine.call, crowd.release, epoch, -1, crowd.missing);
    return crowd.call == call;
}

/// Gathers the data of this core's members into the line that counts groups, so that one line goes to the
/// next core.
void TeamState::gather_group(int group) {
    const Passed passed = passed_in_lines();
    for (int i = 0; i < n_pes(); ++i)
        if (member(i).place.group.load(std::memory_order_relaxed) == group)
            std::memcpy(control_->groups.data + packed_bytes_ * static_cast<std::size_t>(i), passed.at(i),
                        packed_bytes_);
}

/// Assigns one group to each core (several cores may share one, if there are many). Called by the member for
/// which all others wait.
void TeamState::regroup() {
    constexpr std::size_t places = GroupsLine::most;
    std::array<std::int32_t, places> first;
    std::array<std::uint32_t, places> size{};
    std::uint32_t groups = 0;
    control_->groups.moved.store(0, std::memory_order_relaxed);
    for (int i = 0; i < n_pes(); ++i) {
        PlaceLine& place = member(i).place;
        const std::size_t at =
            static_cast<std::uint32_t>(place.core.load(std::memory_order_relaxed)) % places;
        if (size[at]++ == 0) {
            first[at] = i;
            ++groups;
        }
        place.group.store(first[at], std::memory_order_relaxed);
    }
    for (std::size_t at = 0; at < places; ++at)
        if (size[at] != 0) member(first[at]).group.size.store(size[at], std::memory_order_relaxed);
    control_->groups.groups.store(groups, std::memory_order_relaxed);
}

void TeamState::note_core() noexcept {
    const int core = ::sched_getcpu();  // -1 for all if the system does not tell: one group
    if (core == core_) return;
    core_ = core;
    member(my_pe_).place.core.store(core, std::memory_order_relaxed);
    control_->groups.moved.store(1, std::memory_order_relaxed);
}

}  // namespace atl::core
