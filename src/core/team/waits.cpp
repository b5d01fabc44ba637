// Waits of all strategies: polls, then turns for a member that needs this core, then a bounded slow wait.
#include "core/base/job_base.hpp"
#include "core/team/meetings.hpp"
#include "core/team/poll.hpp"
#include "core/team/team_state.hpp"

#include <sched.h>

#include <algorithm>

namespace atl::core {

using detail::reached;

/// Turns yielded before a wait begins. One is mostly enough, and saves the cost of setting up a wait.
constexpr int first_turns = 2;

bool share_core(CoreLine& mine, const CoreLine& theirs) noexcept {
    const std::int32_t here = ::sched_getcpu() + 1;  // 0 if the system does not tell
    if (mine.waits_on.load(std::memory_order_relaxed) != here)
        mine.waits_on.store(here, std::memory_order_relaxed);
    return here > 0 && theirs.waits_on.load(std::memory_order_relaxed) == here;
}

bool Meetings::poll_for_peer(const detail::Flag& flag, std::uint32_t value, int peer, int pauses) noexcept {
    shares_core_ = share_core(member(my_pe_).core_line, member(peer).core_line);
    // The peer may have moved meanwhile: then the yields return soon, and the wait goes on as a slow one.
    if (shares_core_) return yield_turns(flag, value);
    return poll(flag, value, job_.pace().spins - spins_before_core, pauses);
}

void Meetings::wait_flag(const Called& call, detail::Flag& flag, std::uint32_t value, int peer,
                         Missing missing) {
    const int spins = job_.pace().spins;
    for (int i = 0; i < std::min(spins, detail::tight_spins); ++i)
        if (reached(flag.value.load(std::memory_order_acquire), value)) return;
    const common::Meter::Wait measured(job_.meter.get());
    const int rest = spins - detail::tight_spins;
    const bool found = peer < 0
                           ? poll(flag, value, rest, 1)
                           : poll(flag, value, std::min(rest, shares_core_ ? 1 : spins_before_core), 1) ||
                                 poll_for_peer(flag, value, peer, 1);
    if (!found) wait_slowly(call, flag, value, peer, missing);
}

void Meetings::wait_slowly(const Called& call, detail::Flag& flag, std::uint32_t value, int peer,
                           Missing missing) {
    const Waiting waiting{*this, call, flag, value, peer, missing};
    detail::WaitReason reason;
    reason.operation = call.operation();
    reason.team = team_.number();
    reason.peer = peer >= 0 ? team_.world_pe(peer) : -1;
    reason.missing = missing;
    reason.check = &check_for_mismatch;
    reason.argument = &waiting;
    detail::SlowWait slow(job_.job_state(), reason, -1);
    for (;;) {
        const std::uint32_t seen = flag.value.load(std::memory_order_acquire);
        if (reached(seen, value)) return;
        slow.pause_on(flag, seen);
    }
}

bool Meetings::yield_turns(const detail::Flag& flag, std::uint32_t epoch) const {
    common::YieldPolicy& yields = job_.waits().yields;
    if (job_.transport() || !yields.allows()) return false;
    for (int turn = 0; turn < first_turns; ++turn) {
        const bool is_free = yields.yield();
        if (reached(flag.value.load(std::memory_order_acquire), epoch)) return true;
        if (!is_free) return false;
    }
    return false;
}

}  // namespace atl::core
