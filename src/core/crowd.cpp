// How the members of a team meet when PEs outnumber cores: by counters, one of each core's members and one of
// the cores, and one word on which all but the last sleep (measured: design, section 6).
//
// There a turn of the scheduler costs more than all else, and the least is one a core and meeting for two
// PEs a core: who enters last on its core stays, passes, and enters the next meeting before it gives way. For
// that it must outwait the other cores when they are later, and must not when those it waits for need its
// core. Then come lines that go from core to core: with a counter a core, one to arrive and one to be
// released, and these carry an exchange's data if they fit.
#include "core/job_state.hpp"
#include "core/team_state.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace atl::core {

using detail::reached;

/// Turns given before a wait begins: mostly one is enough, and what a wait sets up then costs a tenth of it.
constexpr int first_turns = 2;

bool TeamState::give_turns(const detail::Flag& flag, std::uint32_t epoch) const {
    if (job_.transport()) return false;
    for (int turn = 0; turn < first_turns; ++turn) {
        ::sched_yield();
        if (reached(flag.value.load(std::memory_order_acquire), epoch)) return true;
    }
    return false;
}

void TeamState::meet_in_groups(const char* operation, std::uint32_t epoch, const Crowd& crowd) {
    note_core();
    MemberBlock& me = member(my_pe_);
    crowd.arrived(me, epoch).value.store(epoch, std::memory_order_release);
    const int home = me.place.group.load(std::memory_order_relaxed);
    GroupLine& group = member(home).group;
    const std::uint32_t size = group.size.load(std::memory_order_relaxed);
    const std::uint32_t members = size != 0 ? size : static_cast<std::uint32_t>(n_pes());
    auto& in_group = group.*crowd.in_group;
    if (in_group.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
        // Nobody counts on before the meeting's end, which makes these zeros and the new groups known.
        in_group.store(0, std::memory_order_relaxed);
        if (crowd.carries) gather_group(home);
        GroupsLine& line = control_->groups;
        const std::uint32_t groups = std::max(line.groups.load(std::memory_order_relaxed), 1U);
        auto& in_team = line.*crowd.in_team;
        if (in_team.fetch_add(1, std::memory_order_acq_rel) + 1 == groups) {
            in_team.store(0, std::memory_order_relaxed);
            if (crowd.carries) std::memcpy(control_->exchange_release.data, line.data, exchange_bytes);
            if (line.moved.load(std::memory_order_relaxed) != 0) regroup();
            return set_flag(crowd.release, epoch);
        }
        // Whoever is missing runs on other cores: this one has nothing better to do.
        if (groups <= static_cast<std::uint32_t>(job_.usable_cpus()) && look_for_a_turn(crowd.release, epoch))
            return;
    }
    if (give_turns(crowd.release, epoch)) return;
    wait_flag(operation, crowd.release, epoch, -1, crowd.missing);
}

/// Brings what this core's members pass into the line in which groups count: one line goes to the next core.
void TeamState::gather_group(int group) {
    const Passed passed = passed_in_lines();
    for (int i = 0; i < n_pes(); ++i)
        if (member(i).place.group.load(std::memory_order_relaxed) == group)
            std::memcpy(control_->groups.data + packed_bytes_ * static_cast<std::size_t>(i), passed.at(i),
                        packed_bytes_);
}

/// By whom all others wait for: a group a core (two cores may share one, where there are many).
void TeamState::regroup() {
    constexpr std::size_t places = 64;
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
    const int core = ::sched_getcpu();  // where the system does not tell: -1 for all, which is one group
    if (core == core_) return;
    core_ = core;
    member(my_pe_).place.core.store(core, std::memory_order_relaxed);
    control_->groups.moved.store(1, std::memory_order_relaxed);
}

}  // namespace atl::core
