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

/// Sends `count` elements to `pe`; `src` may be written again by any thread of the scope after it returned.
/// Waits only while `depth` messages are on their way.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void post(const Team& team, const Mailbox& box, const T* src, unsigned long long count, int pe,
                         Scope scope = {}) {
    detail::Post* mine = detail::post_of(box, pe);
    const unsigned long long number = mine->posted + 1;
    unsigned long long taken = mine->seen_taken;
    if (number > taken + Mailbox::depth)
        detail::spin(
            team, [&] { return number <= (taken = load_acquire(&mine->taken)) + Mailbox::depth; },
            [&] {
                return detail::waiting(team, Operation::post, &mine->taken, Compare::ge,
                                       number - Mailbox::depth, pe);
            });
    FlaggedPair* to = peer(team, detail::slot_of(team, box, team.my_pe, number), pe);
    const unsigned long long bytes = count * sizeof(T);
    const unsigned long long pairs = detail::pairs_to_send(box, bytes, number);
    for (unsigned long long i = scope.rank(); i < pairs; i += scope.size())
        detail::store_flagged(to + i, detail::load_part(src, bytes, i), static_cast<unsigned>(number));
    scope.sync();
    mine->seen_taken = taken;  // by every thread, see sync
    mine->posted = number;
}

namespace detail {

/// Once all its words have come; tells the sender now and then what is free again.
template <class T, class Scope>
ATOLL_ANYWHERE void take(const Team& team, const Mailbox& box, T* dst, unsigned long long bytes, int pe,
                         unsigned long long number, Scope scope) {
    const FlaggedPair* from = slot_of(team, box, pe, number);
    const unsigned long long pairs = pairs_of(bytes);
    const auto flag = static_cast<unsigned>(number);
    for (unsigned long long i = scope.rank(); i < pairs; i += scope.size()) {
        unsigned long long data = 0;
        spin(
            team, [&] { return load_flagged(from + i, flag, data); },
            [&] { return waiting(team, Operation::receive, from + i, pe); });
        store_part(dst, bytes, i, data);
    }
    scope.sync();
    Post* mine = post_of(box, pe);
    mine->received = number;
    if (scope.rank() == 0 && number % (Mailbox::depth / 2) == 0)
        store_release(&peer(team, post_of(box, team.my_pe), pe)->taken, number);
}

}  // namespace detail

/// The next message of `pe`. Every thread of the scope may read `dst` after it returned.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE void receive(const Team& team, const Mailbox& box, T* dst, unsigned long long count, int pe,
                            Scope scope = {}) {
    const unsigned long long number = detail::post_of(box, pe)->received + 1;
    detail::take(team, box, dst, count * sizeof(T), pe, number, scope);
}

/// receive, if the message has begun to come; else false at once.
template <class T, class Scope = Thread>
ATOLL_ANYWHERE bool try_receive(const Team& team, const Mailbox& box, T* dst, unsigned long long count,
                                int pe, Scope scope = {}) {
    const unsigned long long number = detail::post_of(box, pe)->received + 1;
    int here = 0;
    if (scope.rank() == 0) {
        unsigned long long data = 0;
        here =
            detail::load_flagged(detail::slot_of(team, box, pe, number), static_cast<unsigned>(number), data);
    }
    if (!scope.broadcast(here)) return false;
    detail::take(team, box, dst, count * sizeof(T), pe, number, scope);
    return true;
}

}  // namespace atl::device
