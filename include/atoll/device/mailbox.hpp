// Mailboxes: small messages between pairs of PEs whose words carry their own flags, so that nothing waits for
// a fence: a message takes little longer than a flag alone.
//
// A message does not stand in the receiver's own array until `receive` puts it there, and orders nothing but
// itself. Of one mailbox and pair, one scope posts and one receives at a time, in order; both pass the same
// size. Messages that are not yet received are `depth` at most; then post waits.
#pragma once

#include "atoll/device/exchange.hpp"

namespace atl::device {

/// A value, passed to kernels beside the team.
struct Mailbox {
    static constexpr unsigned depth = 8;

    char* block;              ///< symmetric, mailbox_bytes() of zeroes
    unsigned long long room;  ///< the longest message, in bytes
};

namespace detail {

/// Counters of one pair. `taken` is written by the receiver, the others by this PE.
struct alignas(32) Post {
    unsigned long long posted;      ///< to that PE
    unsigned long long seen_taken;  ///< `taken` as last looked at
    unsigned long long received;    ///< from that PE
    unsigned long long taken;       ///< how many of mine that PE has received, as far as it told
};

ATOLL_ANYWHERE inline unsigned long long pairs_of(unsigned long long bytes) {
    return bytes == 0 ? 1 : (bytes + 7) / 8;
}
ATOLL_ANYWHERE inline Post* post_of(const Mailbox& box, int pe) {
    return reinterpret_cast<Post*>(box.block) + pe;
}
/// Where message `number` of a sender stands.
ATOLL_ANYWHERE inline FlaggedPair* slot_of(const Team& team, const Mailbox& box, int sender,
                                           unsigned long long number) {
    const unsigned long long slot =
        static_cast<unsigned long long>(sender) * Mailbox::depth + number % Mailbox::depth;
    return reinterpret_cast<FlaggedPair*>(post_of(box, team.n_pes)) + slot * pairs_of(box.room);
}

/// Flags are 32 bits of the number. Words that short messages leave untouched get a new one in time.
ATOLL_ANYWHERE inline unsigned long long pairs_to_send(const Mailbox& box, unsigned long long bytes,
                                                       unsigned long long number) {
    return pairs_of((number & 0x3fffffff) < Mailbox::depth && number >= Mailbox::depth ? box.room : bytes);
}

}  // namespace detail

/// What a mailbox needs for messages of at most `room` bytes between all PEs of a team.
ATOLL_ANYWHERE inline unsigned long long mailbox_bytes(int n_pes, unsigned long long room) {
    return static_cast<unsigned long long>(n_pes) *
           (sizeof(detail::Post) + Mailbox::depth * detail::pairs_of(room) * sizeof(FlaggedPair));
}

/// This PE's end of the way to one other, for loops: its counters stay in registers until `close`, and nobody
/// else posts that way meanwhile.
template <class Scope = Thread> class Outbox {
  public:
    ATOLL_ANYWHERE Outbox(const Team& team, const Mailbox& box, int pe, Scope scope = {})
        : team_(team), box_(box), pe_(pe), scope_(scope) {
        const detail::Post* mine = detail::post_of(box, pe);
        number_ = mine->posted;
        taken_ = mine->seen_taken;
    }
    /// See the function `post`.
    template <class T> ATOLL_ANYWHERE void post(const T* src, unsigned long long count) {
        ++number_;
        if (number_ > taken_ + Mailbox::depth) wait_for_room();
        FlaggedPair* to = peer(team_, detail::slot_of(team_, box_, team_.my_pe, number_), pe_);
        const unsigned long long bytes = count * sizeof(T);
        const unsigned long long pairs = detail::pairs_to_send(box_, bytes, number_);
        for (unsigned long long i = scope_.rank(); i < pairs; i += scope_.size())
            detail::store_flagged(to + i, detail::load_part(src, bytes, i), static_cast<unsigned>(number_));
        scope_.sync();
    }
    ATOLL_ANYWHERE void close() const {
        detail::Post* mine = detail::post_of(box_, pe_);
        mine->posted = number_;  // by every thread, so that each reads its own
        mine->seen_taken = taken_;
    }

  private:
    ATOLL_ANYWHERE void wait_for_room() {
        const unsigned long long* taken = &detail::post_of(box_, pe_)->taken;
        const unsigned long long needed = number_ - Mailbox::depth;
        detail::spin(
            team_, [&] { return (taken_ = load_acquire(taken)) >= needed; },
            [&] { return detail::waiting(team_, Operation::post, taken, Compare::ge, needed, pe_); });
    }

    const Team& team_;
    Mailbox box_;
    int pe_;
    Scope scope_;
    unsigned long long number_, taken_;
};

/// The same of the way from one other.
template <class Scope = Thread> class Inbox {
  public:
    ATOLL_ANYWHERE Inbox(const Team& team, const Mailbox& box, int pe, Scope scope = {})
        : team_(team), box_(box), pe_(pe), scope_(scope), number_(detail::post_of(box, pe)->received) {}
    /// See the function `receive`. Tells the sender now and then what is free again.
    template <class T> ATOLL_ANYWHERE void receive(T* dst, unsigned long long count) {
        ++number_;
        const FlaggedPair* from = detail::slot_of(team_, box_, pe_, number_);
        const unsigned long long bytes = count * sizeof(T), pairs = detail::pairs_of(bytes);
        const auto flag = static_cast<unsigned>(number_);
        for (unsigned long long i = scope_.rank(); i < pairs; i += scope_.size()) {
            unsigned long long data = 0;
            detail::spin(
                team_, [&] { return detail::load_flagged(from + i, flag, data); },
                [&] { return detail::waiting(team_, Operation::receive, from + i, pe_); });
            detail::store_part(dst, bytes, i, data);
        }
        scope_.sync();
        if (number_ % (Mailbox::depth / 2) == 0 && scope_.rank() == 0) tell_taken();
    }
    /// If the next message has begun to come.
    ATOLL_ANYWHERE bool has_message() const {
        int here = 0;
        unsigned long long data = 0;
        if (scope_.rank() == 0)
            here = detail::load_flagged(detail::slot_of(team_, box_, pe_, number_ + 1),
                                        static_cast<unsigned>(number_ + 1), data);
        return scope_.broadcast(here) != 0;
    }
    ATOLL_ANYWHERE void close() const { detail::post_of(box_, pe_)->received = number_; }

  private:
    /// All lanes have read: on a GPU a load whose value was looked at is over, and a release there would wait
    /// for stores that have nothing to do with it.
    ATOLL_ANYWHERE void tell_taken() const {
        unsigned long long* taken = &peer(team_, detail::post_of(box_, team_.my_pe), pe_)->taken;
#if defined(__CUDA_ARCH__)
        store_relaxed(taken, number_);
#else
        store_release(taken, number_);
#endif
    }

    const Team& team_;
    Mailbox box_;
    int pe_;
    Scope scope_;
    unsigned long long number_;
};

/// Sends `count` elements to `pe`; `src` may be written again by any thread of the scope after it returned.
/// Waits only while `depth` messages are on their way.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void post(const Team& team, const Mailbox& box, const T* src, unsigned long long count, int pe,
                         Scope scope = {}) {
    Outbox<Scope> out(team, box, pe, scope);
    out.post(src, count);
    out.close();
}

/// The next message of `pe`. Every thread of the scope may read `dst` after it returned.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void receive(const Team& team, const Mailbox& box, T* dst, unsigned long long count, int pe,
                            Scope scope = {}) {
    Inbox<Scope> in(team, box, pe, scope);
    in.receive(dst, count);
    in.close();
}

/// receive, if the message has begun to come; else false at once.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE bool try_receive(const Team& team, const Mailbox& box, T* dst, unsigned long long count,
                                int pe, Scope scope = {}) {
    Inbox<Scope> in(team, box, pe, scope);
    if (!in.has_message()) return false;
    in.receive(dst, count);
    in.close();
    return true;
}

}  // namespace atl::device
