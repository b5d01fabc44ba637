// Mailboxes: small messages between pairs of PEs. Their words carry their own flags, so no fence is needed. A
// message takes little longer than a flag alone.
//
// `receive` copies a message into the receiver's own array, and orders nothing but the message itself. For
// each mailbox and pair, one scope posts and one receives at a time, in order; both pass the same size.
// Different threads may make a pair's next call once they have synchronised with those of the last: they read
// its counters. The receiver acknowledges every fourth message. So `post` never waits while at most four
// messages are unread, and always while `depth` are; in between it may.
#pragma once

#include "atoll/device/exchange.hpp"

namespace atl::device {

/// Handle of a mailbox: a value, passed to kernels beside the team.
struct Mailbox {
    static constexpr unsigned depth = 8;

    char* block;              ///< symmetric, mailbox_bytes() of zeroes
    unsigned long long room;  ///< the longest message, in bytes, fewer than 2^34
};

inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

/// Counters of one pair. `taken` is written by the receiver, the others by this PE.
struct alignas(32) Post {
    unsigned long long posted;      ///< to that PE
    unsigned long long seen_taken;  ///< last seen value of `taken`
    unsigned long long received;    ///< from that PE
    unsigned long long taken;       ///< number of my messages that PE has received, as acknowledged
};

ATOLL_ANYWHERE inline Post* post_of(const Mailbox& box, int pe) {
    return reinterpret_cast<Post*>(box.block) + pe;
}
/// Address of message `number` of a sender.
ATOLL_ANYWHERE inline FlaggedPair* message_at(const Team& team, const Mailbox& box, int sender,
                                              unsigned long long number) {
    const unsigned long long index =
        static_cast<unsigned long long>(sender) * Mailbox::depth + number % Mailbox::depth;
    return reinterpret_cast<FlaggedPair*>(post_of(box, team.n_pes)) + index * pairs_of(box.room);
}

/// True if this thread must take part in a short message. Threads without a part, up to the end of the last
/// warp, follow the last thread that has one, so that warps do not diverge.
template <class Scope> ATOLL_ANYWHERE bool is_beside(unsigned pairs, Scope scope) {
    return scope.rank() < (pairs + 31) / 32 * 32;
}

/// Sends a message whose parts are not all 8-byte words. Out of line, so that other messages have no code of
/// it between a receive and the next send.
ATOLL_APART void send_odd(FlaggedPair* to, const void* src, unsigned long long bytes, unsigned rank,
                          unsigned step, unsigned flag) {
    const auto pairs = static_cast<unsigned>(pairs_of(bytes));
    ATOLL_ROLLED for (unsigned i = rank; i < pairs; i += step)
        store_flagged(to + i, load_part(src, bytes, i), flag);
}

/// A message to be sent. Its constructor loads the thread's first parts, before the wait for a slot and
/// beside the loads of the counters.
template <class Scope> class Outgoing {
  public:
    ATOLL_ANYWHERE Outgoing(const void* src, unsigned long long bytes, Scope scope)
        : src_(src),
          bytes_(bytes),
          pairs_(static_cast<unsigned>(pairs_of(bytes))),
          step_(scope.size()),
          rank_(scope.rank()),
          whole_(has_whole_parts(src, bytes) ? 1 : 0) {
        hide(whole_);  // one test, before the loop
        if (whole_ != 0) load(rank_);
    }
    ATOLL_ANYWHERE void send(FlaggedPair* to, unsigned flag) {
        if (__builtin_expect(whole_ == 0, 0)) return send_odd(to, src_, bytes_, rank_, step_, flag);
        for (unsigned i = rank_;;) {
            FlaggedPair* at = to + i;
            for (unsigned k = 0; k < parts_at_once; ++k)
                if (i + k * step_ < pairs_)
                    store_flagged(at + static_cast<unsigned long long>(k) * step_, data_[k], flag);
            i += parts_at_once * step_;
            if (i >= pairs_) return;
            load(i);
        }
    }
    /// Refreshes the rest of a place of `all` pairs, see is_refreshing.
    ATOLL_ANYWHERE void refresh(FlaggedPair* to, unsigned flag, unsigned all) const {
        ATOLL_ROLLED for (unsigned i = pairs_ + rank_; i < all; i += step_) store_flagged(to + i, 0, flag);
    }

  private:
    ATOLL_ANYWHERE void load(unsigned i) { load_parts(src_, i, step_, pairs_, data_); }

    const void* src_;
    unsigned long long bytes_;
    unsigned pairs_, step_, rank_;
    int whole_;
    unsigned long long data_[parts_at_once] = {};
};

/// Calls store(i, data) for each part of a message, once it has arrived.
template <class Scope, class Store, class Describe>
ATOLL_ANYWHERE void receive_parts(const Team& team, const FlaggedPair* from, unsigned pairs, unsigned flag,
                                  Scope scope, Store store, Describe describe) {
    const unsigned step = scope.size(), rank = scope.rank();
    unsigned long long data = 0, other = 0;
    if (pairs <= step) {
        if (!is_beside(pairs, scope)) return;
        const FlaggedPair* at = from + (rank < pairs ? rank : pairs - 1);
        spin(
            team, [&] { return load_flagged(at, flag, data); }, [&] { return describe(at); });
        if (rank < pairs) store(rank, data);
        return;
    }
    static_assert(parts_at_once == 2, "each poll reads two words of this thread");
    for (unsigned i = rank; i < pairs; i += parts_at_once * step) {
        const bool has_second = i + step < pairs;
        const FlaggedPair* first = from + i;
        const FlaggedPair* second = has_second ? first + step : first;
        spin(
            team,
            [&] {
                const bool here = load_flagged(first, flag, data);
                return load_flagged(second, flag, other) && here;
            },
            [&] { return describe(first); });
        store(i, data);
        if (has_second) store(i + step, other);
    }
}

/// The counterpart of send_odd. Gets only the fields of the team that a wait needs.
ATOLL_APART void receive_odd(Control* control, Call call, int pe, const FlaggedPair* from, void* dst,
                             unsigned long long bytes, unsigned rank, unsigned step, unsigned flag) {
    const Team team{0, 0, nullptr, 0, 0, 0, 0, nullptr, control, nullptr};
    const auto pairs = static_cast<unsigned>(pairs_of(bytes));
    ATOLL_ROLLED for (unsigned i = rank; i < pairs; i += step) {
        unsigned long long data = 0;
        spin(
            team, [&] { return load_flagged(from + i, flag, data); },
            [&] { return waiting(control, call, from + i, pe); });
        store_part(dst, bytes, i, data);
    }
}

template <class Scope>
ATOLL_ANYWHERE void receive_flagged(const Team& team, const FlaggedPair* from, void* dst,
                                    unsigned long long bytes, unsigned flag, Scope scope, const Call& call,
                                    int pe) {
    int whole = has_whole_parts(dst, bytes) ? 1 : 0;
    hide(whole);
    if (__builtin_expect(whole == 0, 0))
        return receive_odd(team.control, call, pe, from, dst, bytes, scope.rank(), scope.size(), flag);
    receive_parts(
        team, from, static_cast<unsigned>(pairs_of(bytes)), flag, scope,
        [&](unsigned i, unsigned long long data) {
            static_cast<Raw<unsigned long long>*>(dst)[i].word = data;
        },
        [&](const FlaggedPair* word) { return waiting(team.control, call, word, pe); });
}

}  // namespace detail

/// Size in bytes of a mailbox for messages of at most `room` bytes between all PEs of a team.
ATOLL_ANYWHERE inline unsigned long long mailbox_bytes(int n_pes, unsigned long long room) {
    return static_cast<unsigned long long>(n_pes) *
           (sizeof(detail::Post) + Mailbox::depth * detail::pairs_of(room) * sizeof(FlaggedPair));
}

/// This PE's sending end to one other PE, for loops. Its counters stay in registers until `close`, and no
/// other thread may post that way meanwhile. The team must outlive it.
template <class Scope = Thread> class Outbox {
  public:
    ATOLL_ANYWHERE Outbox(const Team& team, const Mailbox& box, int pe, Scope scope = {}, int tag = 0,
                          unsigned long long bound_ns = 0)
        : team_(team),
          box_(box),
          pairs_(static_cast<unsigned>(detail::pairs_of(box.room))),
          taken_word_(&detail::post_of(box, pe)->taken),
          pe_(pe),
          scope_(scope),
          call_{Operation::post, tag, bound_ns} {
        slots_ = detail::near_for(team, Operation::post, detail::message_at(team, box, team.my_pe, 0), pe);
        const detail::Post* mine = detail::post_of(box, pe);
        number_ = mine->posted;
        taken_ = static_cast<unsigned>(mine->seen_taken);
    }
    Outbox(const Team&&, const Mailbox&, int, Scope = {}, int = 0, unsigned long long = 0) = delete;
    /// See the function `post`.
    template <class T> ATOLL_ANYWHERE void post(const T* src, unsigned long long count) {
        const detail::Traced traced(team_, scope_, Operation::post, pe_, nullptr, count * sizeof(T));
        detail::Outgoing<Scope> message(src, count * sizeof(T), scope_);
        send(message);
    }
    /// Sends a message that the caller has begun to load.
    ATOLL_ANYWHERE void send(detail::Outgoing<Scope>& message) {
        begin();
        const auto flag = static_cast<unsigned>(number_);
        message.send(slot_, flag);
        if (__builtin_expect(detail::is_refreshing<Mailbox::depth>(number_), 0))
            message.refresh(slot_, flag, pairs_);
        end();
    }

    /// A message by parts of 8 bytes, for threads that have them in registers: begin, store of each part by
    /// one thread, end. All messages of such a mailbox have the same number of parts.
    ATOLL_ANYWHERE void begin() {
        ++number_;
        if (in_flight() > Mailbox::depth) wait_for_room();
        slot_ = slots_ + number_ % Mailbox::depth * pairs_;
    }
    ATOLL_ANYWHERE void store(unsigned long long part, unsigned long long data) const {
        detail::store_flagged(slot_ + part, data, static_cast<unsigned>(number_));
    }
    ATOLL_ANYWHERE void end() {
        // The next message uses the value, so this one does not wait for the load.
        if (number_ % (Mailbox::depth / 2) == 0) taken_ = load_taken();
        scope_.sync();
    }
    ATOLL_ANYWHERE void close() const {
        detail::Post* mine = detail::post_of(box_, pe_);
        mine->posted = number_;  // every thread stores it, so that its later loads see its own store
        mine->seen_taken = number_ - in_flight();
    }

  private:
    /// A GPU does not load or store speculatively, so dependent stores come after this load.
    ATOLL_ANYWHERE unsigned load_taken() const {
#if defined(__CUDA_ARCH__)
        return static_cast<unsigned>(load_relaxed(taken_word_));
#else
        return static_cast<unsigned>(load_acquire(taken_word_));
#endif
    }
    /// Number of unacknowledged messages, this one included: at most nine, so half of the counters' bits
    /// suffice.
    ATOLL_ANYWHERE unsigned in_flight() const { return static_cast<unsigned>(number_) - taken_; }
    ATOLL_ANYWHERE void wait_for_room() {
        detail::spin(
            team_,
            [&] {
                taken_ = load_taken();
                return in_flight() <= Mailbox::depth;
            },
            [&] {
                return detail::waiting(team_.control, call_, taken_word_, Compare::ge,
                                       number_ - Mailbox::depth, pe_);
            });
    }

    const Team& team_;
    Mailbox box_;
    unsigned pairs_;                  ///< pairs of a slot, fewer than 2^31
    unsigned long long* taken_word_;  ///< number of messages that PE has received
    int pe_;
    Scope scope_;
    detail::Call call_;
    FlaggedPair* slots_;  ///< my slots at that PE
    FlaggedPair* slot_ = nullptr;
    unsigned long long number_;
    unsigned taken_;  ///< lower half of *taken_word_, as last read
};

/// This PE's receiving end from one other PE.
template <class Scope = Thread> class Inbox {
  public:
    ATOLL_ANYWHERE Inbox(const Team& team, const Mailbox& box, int pe, Scope scope = {}, int tag = 0,
                         unsigned long long bound_ns = 0)
        : team_(team),
          box_(box),
          pairs_(static_cast<unsigned>(detail::pairs_of(box.room))),
          pe_(pe),
          scope_(scope),
          call_{Operation::receive, tag, bound_ns} {
        slots_ = detail::message_at(team, box, pe, 0);
        taken_ = &detail::near_for(team, Operation::receive, detail::post_of(box, team.my_pe), pe)->taken;
        number_ = detail::post_of(box, pe)->received;
    }
    Inbox(const Team&&, const Mailbox&, int, Scope = {}, int = 0, unsigned long long = 0) = delete;
    /// See the function `receive`.
    template <class T> ATOLL_ANYWHERE void receive(T* dst, unsigned long long count) {
        const detail::Traced traced(team_, scope_, Operation::receive, pe_, nullptr, count * sizeof(T));
        begin();
        detail::receive_flagged(team_, slot(number_), dst, count * sizeof(T), static_cast<unsigned>(number_),
                                scope_, call_, pe_);
        end();
    }

    /// A message by parts, see Outbox: begin, load of each part by one thread, end.
    ATOLL_ANYWHERE void begin() { ++number_; }
    ATOLL_ANYWHERE unsigned long long load(unsigned long long part) const {
        unsigned long long data = 0;
        const FlaggedPair* word = slot(number_) + part;
        detail::spin(
            team_, [&] { return detail::load_flagged(word, static_cast<unsigned>(number_), data); },
            [&] { return awaited(word); });
        return data;
    }
    /// Acknowledges every fourth message to the sender.
    ATOLL_ANYWHERE void end() {
        scope_.sync();
        if (number_ % (Mailbox::depth / 2) == 0 && scope_.rank() == 0) notify_taken();
    }
    /// True if the next message has begun to arrive.
    ATOLL_ANYWHERE bool has_message() const {
        int here = 0;
        unsigned long long data = 0;
        if (scope_.rank() == 0)
            here = detail::load_flagged(slot(number_ + 1), static_cast<unsigned>(number_ + 1), data);
        return scope_.broadcast(here) != 0;
    }
    ATOLL_ANYWHERE void close() const { detail::post_of(box_, pe_)->received = number_; }

  private:
    ATOLL_ANYWHERE Report awaited(const FlaggedPair* word) const {
        return detail::waiting(team_.control, call_, word, pe_);
    }
    ATOLL_ANYWHERE const FlaggedPair* slot(unsigned long long number) const {
        return slots_ + number % Mailbox::depth * pairs_;
    }
    /// Acknowledges after all lanes have read. On a GPU a load is complete once its value was used. A release
    /// there would wait for unrelated stores.
    ATOLL_ANYWHERE void notify_taken() const {
#if defined(__CUDA_ARCH__)
        store_relaxed(taken_, number_);
#else
        store_release(taken_, number_);
#endif
    }

    const Team& team_;
    Mailbox box_;
    unsigned pairs_;  ///< pairs of a slot, fewer than 2^31
    int pe_;
    Scope scope_;
    detail::Call call_;
    const FlaggedPair* slots_;   ///< this PE's slots for messages of that PE
    unsigned long long* taken_;  ///< my counter at that PE
    unsigned long long number_;
};

/// Send src to PE `pe` through the mailbox. It waits only while more than `depth / 2` messages to that PE are
/// unread. For each pair of PEs, one scope posts at a time and one receives, in order. Both pass the same
/// size. On return src may be written again. A wait longer than `bound_ns` is reported with `tag`. Memory
/// order: none: a message orders no other data.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void post(const Team& team, const Mailbox& box, const T* src, unsigned long long count, int pe,
                         Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    const detail::Traced traced(team, scope, Operation::post, pe, nullptr, count * sizeof(T));
    detail::Outgoing<Scope> message(src, count * sizeof(T), scope);
    Outbox<Scope> out(team, box, pe, scope, tag, bound_ns);
    out.send(message);
    out.close();
}

/// Wait for the next message of PE `pe` in the mailbox, and copy it to dst. For each pair of PEs, one scope
/// posts at a time and one receives, in order. Both pass the same size. On return all threads of the scope
/// may read dst, which is contiguous. A wait longer than `bound_ns` is reported with `tag`. Memory order:
/// none: a message orders no other data.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void receive(const Team& team, const Mailbox& box, T* dst, unsigned long long count, int pe,
                            Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    Inbox<Scope> in(team, box, pe, scope, tag, bound_ns);
    in.receive(dst, count);
    in.close();
}

/// Receive the next message of PE `pe` if it has begun to arrive, and tell whether it has. If it has begun to
/// arrive, the call waits for the rest, as in receive. If not, it returns false at once. A wait longer than
/// `bound_ns` is reported with `tag`. Memory order: none: a message orders no other data.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE bool try_receive(const Team& team, const Mailbox& box, T* dst, unsigned long long count,
                                int pe, Scope scope = {}, int tag = 0, unsigned long long bound_ns = 0) {
    Inbox<Scope> in(team, box, pe, scope, tag, bound_ns);
    if (!in.has_message()) return false;
    in.receive(dst, count);
    in.close();
    return true;
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
