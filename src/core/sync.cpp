// How the members of a team meet. PEs that have a core each go by dissemination; more PEs than cores by one
// counter and one word on which all but the last sleep (measured: design, section 6).
//
// There a turn of the scheduler costs more than all else, and the least is one a core and meeting for two
// PEs a core: who enters last on its core stays, passes, and enters the next meeting before it gives way. For
// that it must outwait the other cores when they are later, and must not when those it waits for need its
// core.
#include "core/job_state.hpp"
#include "core/team_state.hpp"

#include <sched.h>

namespace atl::core {

using detail::reached;

/// Turns given before a wait begins: mostly one is enough, and what a wait sets up then costs a tenth of it.
constexpr int first_turns = 2;

void TeamState::wait_flag(const char* operation, detail::Flag& flag, std::uint32_t value, int peer,
                          int (*missing)(const void*, int*, int), int tight) {
    const int spins = job_.spins();
    for (int i = 0; i < spins; ++i) {
        if (reached(flag.value.load(std::memory_order_acquire), value)) return;
        if (i >= tight) detail::cpu_pause();
    }
    detail::WaitReason reason;
    reason.operation = operation;
    reason.team = number_;
    reason.peer = peer >= 0 ? world_pe(peer) : -1;
    reason.missing = missing;
    reason.argument = this;
    detail::SlowWait slow(job_, reason, -1);
    for (;;) {
        const std::uint32_t seen = flag.value.load(std::memory_order_acquire);
        if (reached(seen, value)) return;
        slow.pause_on(flag, seen);
    }
}

void TeamState::sync(const char* operation) {
    check_alive();
    ++sync_epoch_;
    if (n_pes() == 1) return;
    try {
        if (crowded_)
            meet_counted(operation, sync_epoch_,
                         {control_->count.flag, control_->release.flag,
                          [](MemberBlock& m, std::uint32_t) -> detail::Flag& { return m.arrived.flag; },
                          &missing_at_sync});
        else if (n_pes() == 2)
            meet_in_pair(operation, control_->pair_sync, sync_epoch_);
        else
            sync_rounds(operation);
    } catch (...) {
        broken_ = true;  // this PE has arrived and cannot take that back
        throw;
    }
}

void TeamState::meet_in_pair(const char* operation, PairLine& line, std::uint32_t epoch) {
    const int other = 1 - my_pe_;
    set_flag(line.half[my_pe_].flag, epoch);
    // With a pause from the first look on: a reader that never pauses takes the line away before it is
    // written again.
    wait_flag(operation, line.half[other].flag, epoch, other, nullptr, 0);
}

void TeamState::sync_rounds(const char* operation) {
    const int n = n_pes();
    for (int round = 0, distance = 1; distance < n; ++round, distance <<= 1) {
        const int to = my_pe_ + distance < n ? my_pe_ + distance : my_pe_ + distance - n;
        const int from = my_pe_ >= distance ? my_pe_ - distance : my_pe_ - distance + n;
        detail::Flag& theirs = member(to).round[round].flag;
        detail::Flag& mine = member(my_pe_).round[round].flag;
        publish_flag(theirs, sync_epoch_);
        const bool arrived = look_for(mine, sync_epoch_);
        wake_sleepers(theirs);
        if (!arrived) wait_flag(operation, mine, sync_epoch_, from);
    }
}

bool TeamState::give_turns(const detail::Flag& flag, std::uint32_t epoch) const {
    if (job_.transport()) return false;
    for (int turn = 0; turn < first_turns; ++turn) {
        ::sched_yield();
        if (reached(flag.value.load(std::memory_order_acquire), epoch)) return true;
    }
    return false;
}

void TeamState::meet_counted(const char* operation, std::uint32_t epoch, const Counter& counter) {
    note_core();
    counter.arrived(member(my_pe_), epoch).value.store(epoch, std::memory_order_release);
    // The counter runs on from epoch to epoch and wraps; the last to arrive brings it to a multiple of n.
    const auto n = static_cast<std::uint32_t>(n_pes());
    const std::uint32_t missing =
        n * epoch - (counter.count.value.fetch_add(1, std::memory_order_acq_rel) + 1);
    if (missing == 0) return set_flag(counter.release, epoch);
    // Fewer are missing than there are cores: perhaps all of them run now.
    if (missing < static_cast<std::uint32_t>(job_.usable_cpus()) && all_missing_elsewhere(epoch, counter) &&
        look_for_a_turn(counter.release, epoch))
        return;
    if (give_turns(counter.release, epoch)) return;
    wait_flag(operation, counter.release, epoch, -1, counter.missing);
}

/// No member that is missing ran on this PE's core when last heard of. What is stale here costs time only.
bool TeamState::all_missing_elsewhere(std::uint32_t epoch, const Counter& counter) {
    for (int i = 0; i < n_pes(); ++i)
        if (member(i).core.flag.value.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(core_) &&
            !reached(counter.arrived(member(i), epoch).value.load(std::memory_order_acquire), epoch))
            return false;
    return true;
}

void TeamState::note_core() noexcept {
    const int core = ::sched_getcpu();  // where the system does not tell: -1 for all, so that nobody outwaits
    if (core == core_) return;
    core_ = core;
    member(my_pe_).core.flag.value.store(static_cast<std::uint32_t>(core), std::memory_order_relaxed);
}

int TeamState::missing_at_sync(const void* argument, int* pes, int most) {
    auto& team = *const_cast<TeamState*>(static_cast<const TeamState*>(argument));
    int count = 0;
    for (int i = 0; i < team.n_pes() && count < most; ++i)
        if (!reached(team.member(i).arrived.flag.value.load(std::memory_order_acquire), team.sync_epoch_))
            pes[count++] = team.world_pe(i);
    return count;
}

}  // namespace atl::core
