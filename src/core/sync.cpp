// How the members of a team meet: PEs that have a core each by dissemination, two by one line between them.
// More PEs than cores: crowd.cpp.
#include "core/job_state.hpp"
#include "core/team_state.hpp"

namespace atl::core {

using detail::reached;

void TeamState::wait_flag(const char* operation, detail::Flag& flag, std::uint32_t value, int peer,
                          int (*missing)(const void*, int*, int)) {
    const int spins = job_.spins();
    for (int i = 0; i < spins; ++i) {
        if (reached(flag.value.load(std::memory_order_acquire), value)) return;
        if (i >= detail::tight_spins) detail::cpu_pause();
    }
    wait_slowly(operation, flag, value, peer, missing);
}

void TeamState::wait_slowly(const char* operation, detail::Flag& flag, std::uint32_t value, int peer,
                            int (*missing)(const void*, int*, int)) {
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
        if (spread_) [[unlikely]]
            spread_->sync(operation);
        else if (crowded_)
            meet_in_groups(operation, sync_epoch_,
                           {&GroupLine::at_sync, &GroupsLine::at_sync, control_->release.flag,
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
    // A reader that looks all the time takes the line away before it is written again.
    const int pauses = job_.pauses_of_a_line();
    for (int spins = job_.spins(); spins > 0; spins -= pauses) {
        if (reached(line.half[other].flag.value.load(std::memory_order_acquire), epoch)) return;
        for (int i = 0; i < pauses; ++i) detail::cpu_pause();
    }
    wait_slowly(operation, line.half[other].flag, epoch, other, nullptr);
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

int TeamState::missing_at_sync(const void* argument, int* pes, int most) {
    auto& team = *const_cast<TeamState*>(static_cast<const TeamState*>(argument));
    int count = 0;
    for (int i = 0; i < team.n_pes() && count < most; ++i)
        if (!reached(team.member(i).arrived.flag.value.load(std::memory_order_acquire), team.sync_epoch_))
            pes[count++] = team.world_pe(i);
    return count;
}

}  // namespace atl::core
