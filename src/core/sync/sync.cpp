// Barriers of a team whose members have a core each: dissemination; for two members, one line between them.
// More PEs than cores: crowd.cpp.
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"

#include <sched.h>

#include <algorithm>

namespace atl::core {

using detail::reached;

namespace {

/// Polls `flag` for `spins` pauses, with `pauses` between two polls; true once it has reached `value`.
inline bool poll(const detail::Flag& flag, std::uint32_t value, int spins, int pauses) noexcept {
    // A reader that polls all the time takes the line away before its next write.
    for (; spins > 0; spins -= pauses) {
        if (reached(flag.value.load(std::memory_order_acquire), value)) return true;
        for (int i = 0; i < pauses; ++i) detail::cpu_pause();
    }
    return false;
}

/// Pauses of a wait before it asks whether the awaited member needs this core. The flag of a member on
/// another core is usually set earlier.
constexpr int spins_before_core = 50;

}  // namespace

bool share_core(PlaceLine& mine, const PlaceLine& theirs) noexcept {
    const std::int32_t here = ::sched_getcpu() + 1;  // 0 if the system does not tell
    if (mine.waits_on.load(std::memory_order_relaxed) != here)
        mine.waits_on.store(here, std::memory_order_relaxed);
    return here > 0 && theirs.waits_on.load(std::memory_order_relaxed) == here;
}

bool TeamState::look_for_peer(const detail::Flag& flag, std::uint32_t value, int peer, int pauses) noexcept {
    shares_core_ = share_core(member(my_pe_).place, member(peer).place);
    // The peer may have moved meanwhile: then the yields return soon, and the wait goes on as a slow one.
    if (shares_core_) return give_turns(flag, value);
    return poll(flag, value, job_.spins() - spins_before_core, pauses);
}

void TeamState::wait_flag(const Called& call, detail::Flag& flag, std::uint32_t value, int peer,
                          Missing missing) {
    const int spins = job_.spins();
    for (int i = 0; i < std::min(spins, detail::tight_spins); ++i)
        if (reached(flag.value.load(std::memory_order_acquire), value)) return;
    const int rest = spins - detail::tight_spins;
    const bool found = peer < 0
                           ? poll(flag, value, rest, 1)
                           : poll(flag, value, std::min(rest, shares_core_ ? 1 : spins_before_core), 1) ||
                                 look_for_peer(flag, value, peer, 1);
    if (!found) wait_slowly(call, flag, value, peer, missing);
}

void TeamState::wait_slowly(const Called& call, detail::Flag& flag, std::uint32_t value, int peer,
                            Missing missing) {
    const Waiting waiting{*this, call, flag, value, peer, missing};
    detail::WaitReason reason;
    reason.operation = call.operation();
    reason.team = number_;
    reason.peer = peer >= 0 ? world_pe(peer) : -1;
    reason.missing = missing;
    reason.look = &look_for_mismatch;
    reason.argument = &waiting;
    detail::SlowWait slow(job_, reason, -1);
    for (;;) {
        const std::uint32_t seen = flag.value.load(std::memory_order_acquire);
        if (reached(seen, value)) return;
        slow.pause_on(flag, seen);
    }
}

void TeamState::sync(const Called& call) {
    if (!meets_alike(call, fingerprint_of(call))) [[unlikely]]
        fail_mismatch(call);
}

bool TeamState::meets_alike(const Called& call, std::uint32_t fingerprint) {
    check_alive();
    const Within within(*this, call);
    ++sync_epoch_;
    way_ = Way::sync;
    if (n_pes() == 1) return true;
    try {
        const bool alike = spread_ ? spread_->sync(call, fingerprint) : meet_to_sync({call, fingerprint});
        check_overtaken(call.operation());
        return alike;
    } catch (...) {
        mark_broken();  // this PE has arrived and cannot undo that
        throw;
    }
}

bool TeamState::meet_to_sync(Arrival mine) {
    if (crowded_)
        return meet_in_groups(
            sync_epoch_, mine,
            {&GroupLine::at_sync, &GroupsLine::at_sync, control_->release.flag, control_->release.calls[0],
             [](MemberBlock& m, std::uint32_t) -> detail::Flag& { return m.arrived.flag; },
             &missing_at_sync});
    if (meets_in_pair()) return meet_in_pair(control_->pair_sync, sync_epoch_, mine);
    return sync_rounds(mine);
}

bool TeamState::meet_in_pair(PairLine& line, std::uint32_t epoch, Arrival mine) {
    PairHalf& ours = line.half[my_pe_];
    PairHalf& theirs = line.half[1 - my_pe_];
    const std::uint32_t parity = epoch & 1;
    ours.calls[parity] = mine.fingerprint;
    set_flag(ours.flag, epoch);
    if (!reached(theirs.flag.value.load(std::memory_order_acquire), epoch))
        wait_in_pair(theirs.flag, epoch, mine);
    return theirs.calls[parity] == mine.fingerprint;
}

void TeamState::wait_in_pair(detail::Flag& flag, std::uint32_t epoch, Arrival mine) {
    const int pauses = job_.pauses_of_a_line();
    const int first = std::min(job_.spins(), shares_core_ ? pauses : spins_before_core);
    if (!poll(flag, epoch, first, pauses) && !look_for_peer(flag, epoch, 1 - my_pe_, pauses)) [[unlikely]]
        wait_slowly(mine.call, flag, epoch, 1 - my_pe_, nullptr);
}

/// In each round a member passes on the fingerprint of all members that reached it, or that they differ.
/// So all members get the same result in the end.
bool TeamState::sync_rounds(Arrival arrival) {
    const int n = n_pes();
    const std::uint32_t parity = sync_epoch_ & 1;
    std::uint32_t so_far = arrival.fingerprint;
    for (int round = 0, distance = 1; distance < n; ++round, distance <<= 1) {
        const int to = my_pe_ + distance < n ? my_pe_ + distance : my_pe_ + distance - n;
        const int from = my_pe_ >= distance ? my_pe_ - distance : my_pe_ - distance + n;
        SyncLine& theirs = member(to).round[round];
        SyncLine& mine = member(my_pe_).round[round];
        theirs.calls[parity] = so_far;
        publish_flag(theirs.flag, sync_epoch_);
        const bool arrived = look_for(mine.flag, sync_epoch_);
        wake_sleepers(theirs.flag);
        if (!arrived) wait_flag(arrival.call, mine.flag, sync_epoch_, from);
        if (mine.calls[parity] != so_far) [[unlikely]]
            so_far = Called::differing;
    }
    return so_far == arrival.fingerprint;
}

int TeamState::missing_at_sync(const void* waiting, int* pes, int most) {
    TeamState& team = static_cast<const Waiting*>(waiting)->team;
    int count = 0;
    for (int i = 0; i < team.n_pes() && count < most; ++i)
        if (!reached(team.member(i).arrived.flag.value.load(std::memory_order_acquire), team.sync_epoch_))
            pes[count++] = team.world_pe(i);
    return count;
}

}  // namespace atl::core
