// How the members of a team meet. PEs that have a core each go by dissemination; more PEs than cores by one
// counter and one word on which all but the last sleep (measured: design, section 6).
#include "core/job_state.hpp"
#include "core/team_state.hpp"

namespace atl::core {

using detail::reached;

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
            sync_counted(operation);
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

void TeamState::sync_counted(const char* operation) {
    const auto n = static_cast<std::uint32_t>(n_pes());
    member(my_pe_).arrived.flag.value.store(sync_epoch_, std::memory_order_release);
    // The counter runs on from epoch to epoch and wraps; the last to arrive brings it to a multiple of n.
    if (control_->count.flag.value.fetch_add(1, std::memory_order_acq_rel) + 1 == n * sync_epoch_)
        set_flag(control_->release.flag, sync_epoch_);
    else
        wait_flag(operation, control_->release.flag, sync_epoch_, -1, &missing_at_sync);
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
