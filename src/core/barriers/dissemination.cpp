// Barriers of members with a core each: dissemination, in log2(n) rounds.
//
// Barriers by the number of PEs: docs/measurements/2026-11-21-primitives.md#barriers.
#include "core/barriers/strategies.hpp"

namespace atl::core {

/// In each round a member passes on the combined fingerprint of the members seen so far, or that they differ.
/// So all members get the same result in the end.
bool Meetings::Dissemination::sync(Meetings& m, Arrival arrival) {
    const int n = m.n_pes_;
    const int my_pe = m.my_pe_;
    const std::uint32_t parity = m.sync_epoch_ & 1;
    std::uint32_t so_far = arrival.fingerprint;
    for (int round = 0, distance = 1; distance < n; ++round, distance <<= 1) {
        const int to = my_pe + distance < n ? my_pe + distance : my_pe + distance - n;
        const int from = my_pe >= distance ? my_pe - distance : my_pe - distance + n;
        SyncLine& theirs = m.member(to).round[round];
        SyncLine& mine = m.member(my_pe).round[round];
        theirs.calls[parity] = so_far;
        publish_flag(theirs.flag, m.sync_epoch_);
        const bool arrived = poll_briefly(mine.flag, m.sync_epoch_);
        wake_sleepers(theirs.flag);
        if (!arrived) m.wait_flag(arrival.call, mine.flag, m.sync_epoch_, from);
        if (mine.calls[parity] != so_far) [[unlikely]]
            so_far = Called::differing;
    }
    return so_far == arrival.fingerprint;
}

constinit const Meetings::Strategy Meetings::dissemination{"dissemination", &Dissemination::sync,
                                                           &Lines::exchange};

}  // namespace atl::core
