// Barriers of a team's members within kernels. Collective over the team: all members call with one scope
// each, in the same order, one at a time for a team. If the scope changes, see atoll/device/collectives.hpp.
#pragma once

#include "atoll/device/bulk.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// `relaxed` is an extension: it synchronises execution, and orders no data.
enum class Order { acquire_release, relaxed };

/// Repeated barriers of a team, for loops. The epoch stays in a register until `close`, and no other thread
/// may synchronise that team meanwhile. (Rereading a word of memory just written takes a fifth of a barrier.)
/// The team must outlive it.
template <class Scope = Thread> class Meeting {
  public:
    explicit ATOLL_ANYWHERE Meeting(const Team& team, Scope scope = {}, int tag = 0,
                                    unsigned long long bound_ns = 0)
        : Meeting(team, scope, detail::Call{Operation::sync, tag, bound_ns}) {}
    explicit Meeting(const Team&&, Scope = {}, int = 0, unsigned long long = 0) = delete;
    /// Constructs a meeting that is part of the given call.
    ATOLL_ANYWHERE Meeting(const Team& team, Scope scope, const detail::Call& call)
        : team_(team), scope_(scope), epoch_(team.control->sync_epoch), call_(call), there_(nullptr) {
        const int rank = static_cast<int>(scope.rank());
        if (rank < team.n_pes) there_ = word_at(rank);
    }

    /// See the function `sync`.
    ATOLL_ANYWHERE void sync(Order order = Order::acquire_release) {
        const detail::Traced traced(team_, scope_, call_.operation);
        step(order);
    }
    /// The same as a part of a call, which the trace shows as a whole.
    ATOLL_ANYWHERE void step(Order order) {
        ++epoch_;
        unsigned long long* arrived = detail::arrived_of(team_);
        if (order == Order::acquire_release)
            detail::settle_far(team_, Operation::sync, FarKind::quiet, scope_);
        scope_.sync();
        const int step = static_cast<int>(scope_.size()), rank = static_cast<int>(scope_.rank());
        if (step >= team_.n_pes) {  // a thread for each member: its branch is entered once
            if (rank < team_.n_pes && rank != team_.my_pe) {
                tell(rank, there_, order);
                wait_for(rank, arrived + rank, order);
            }
        } else {
            for (int pe = rank; pe < team_.n_pes; pe += step)
                if (pe != team_.my_pe) tell(pe, word_at(pe), order);
            for (int pe = rank; pe < team_.n_pes; pe += step)
                if (pe != team_.my_pe) wait_for(pe, arrived + pe, order);
        }
        scope_.sync();
    }
    ATOLL_ANYWHERE void close() const {
        team_.control->sync_epoch = epoch_;  // by every thread: later loads see its own store
    }

  private:
    /// Address of this PE's arrival word at a member; null if the host must write it.
    ATOLL_ANYWHERE unsigned long long* word_at(int pe) const {
        const int slot = slot_of(team_, pe);
        return detail::is_far(slot) ? nullptr
                                    : detail::at_slot(team_, detail::arrived_of(team_) + team_.my_pe, slot);
    }
    ATOLL_ANYWHERE void tell(int pe, unsigned long long* word, Order order) const {
        if (ATOLL_DEVICE_FAR != 0 && !word)
            detail::far_word(team_.control,
                             detail::far_code(Operation::sync, AtomicOp::set, DType::uint64, false),
                             slot_of(team_, pe), detail::arrived_of(team_) + team_.my_pe, 8, epoch_, 0);
        else if (order == Order::relaxed)
            store_relaxed(word, epoch_);
        else
            store_release(word, epoch_);
    }
    ATOLL_ANYWHERE void wait_for(int pe, const unsigned long long* word, Order order) const {
        const auto describe = [&] {
            return detail::waiting(team_.control, call_, word, Compare::ge, epoch_, pe);
        };
        if (order == Order::relaxed)
            detail::spin(
                team_, [&] { return load_relaxed(word) >= epoch_; }, describe);
        else
            detail::spin_on(
                team_, word, [&](unsigned long long found) { return found >= epoch_; }, describe);
    }

    const Team& team_;
    Scope scope_;
    unsigned long long epoch_;
    detail::Call call_;
    unsigned long long* there_;  ///< this PE's word at the member with this thread's rank
};

namespace detail {

template <class Scope>
ATOLL_ANYWHERE void meet(const Team& team, Scope scope, const Call& call,
                         Order order = Order::acquire_release) {
    Meeting<Scope> meeting(team, scope, call);
    meeting.step(order);
    meeting.close();
}

}  // namespace detail

/// Wait until all members of the team have arrived. The writes of async_put need quiet first. A wait longer
/// than `bound_ns` is reported with `tag`. Memory order: release and acquire: what each scope wrote and saw
/// before is visible to every scope afterwards.
template <class Scope = Thread>
ATOLL_ANYWHERE void sync(const Team& team, Scope scope = {}, Order order = Order::acquire_release,
                         int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Traced traced(team, scope, Operation::sync);
    detail::meet(team, scope, {Operation::sync, tag, bound_ns}, order);
}

/// Complete the puts and atomics of the scope, as quiet, and wait until all members of the team have arrived.
/// A wait longer than `bound_ns` is reported with `tag`. Memory order: release and acquire: all of it,
/// async_put too, is visible to every member afterwards.
template <class Scope = Thread>
ATOLL_ANYWHERE void barrier(const Team& team, Scope scope = {}, int tag = 0,
                            unsigned long long bound_ns = 0) {
    const detail::Traced traced(team, scope, Operation::barrier);
    detail::complete_bulk();
    detail::meet(team, scope, {Operation::barrier, tag, bound_ns});
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
