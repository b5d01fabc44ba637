// Meeting of a team's members within kernels. Collective over the team: all members call it with one scope
// each, in the same order, and one at a time for a team.
#pragma once

#include "atoll/device/scope.hpp"

namespace atl::device {

/// `relaxed` is an extension: all have arrived, and no data are ordered by that.
enum class Order { acquire_release, relaxed };

/// All members have arrived. What each scope wrote and saw before is visible to every scope after it.
template <class Scope = Thread>
ATOLL_ANYWHERE void sync(const Team& team, Scope scope = {}, Order order = Order::acquire_release) {
    Control& mine = *team.control;
    const unsigned long long epoch = mine.sync_epoch + 1;
    scope.sync();
    const int step = static_cast<int>(scope.size());
    for (int pe = static_cast<int>(scope.rank()); pe < team.n_pes; pe += step) {
        if (pe == team.my_pe) continue;
        unsigned long long* word = &control_of(team, pe)->arrived[team.my_pe];
        if (order == Order::relaxed)
            store_relaxed(word, epoch);
        else
            store_release(word, epoch);
    }
    for (int pe = static_cast<int>(scope.rank()); pe < team.n_pes; pe += step) {
        if (pe == team.my_pe) continue;
        const unsigned long long* word = &mine.arrived[pe];
        detail::spin(
            team,
            [&] { return (order == Order::relaxed ? load_relaxed(word) : load_acquire(word)) >= epoch; },
            [&] { return detail::waiting(team, Operation::sync, word, Compare::ge, epoch, pe); });
    }
    scope.sync();
    // By every thread, so that each reads its own at the next call, and no further meeting is needed.
    mine.sync_epoch = epoch;
}

/// quiet for the scope, then sync: here what orders the one completes the other.
template <class Scope = Thread> ATOLL_ANYWHERE void barrier(const Team& team, Scope scope = {}) {
    sync(team, scope);
}

}  // namespace atl::device
