// One call of a mailbox in a device heap, made by all threads of a scope. The library's kernel and the
// simulated GPU use it. The format is that of kernels' own mailboxes (atoll/device/mailbox.hpp), whose
// messages do not carry their size. Here the sender also stores each message's size in a table beside the
// mailbox, before the first part. A first part without a size therefore belongs to a kernel's message.
#pragma once

#include "atoll/device/mailbox.hpp"
#include "atoll/device/rma.hpp"
#include "gpu/device_calls.hpp"

namespace atl::gpu {

/// Values of MailboxCall::arrived if no message was moved. try_post stores one only if it fails, so a
/// successful one stores no more than post.
constexpr std::int64_t no_message = -1, no_room = -1;
ATOLL_ANYWHERE constexpr std::int64_t refused(std::uint64_t bytes) {
    return -2 - static_cast<std::int64_t>(bytes);
}
ATOLL_ANYWHERE constexpr bool is_refused(std::int64_t arrived) { return arrived < no_message; }
ATOLL_ANYWHERE constexpr std::uint64_t refused_bytes(std::int64_t arrived) {
    return static_cast<std::uint64_t>(-2 - arrived);
}

namespace detail {

using device::FlaggedPair;

/// Flags are the lower half of a message's number. Messages posted by kernels do not change sizes. So the
/// upper half is stored with the size, which distinguishes an old size from a new one.
constexpr unsigned size_bits = 34;
ATOLL_ANYWHERE constexpr unsigned long long upper_half(unsigned long long number) {
    return number >> 32 << size_bits;
}

ATOLL_ANYWHERE inline FlaggedPair* size_at(const MailboxCall& call, int sender, unsigned long long number) {
    constexpr unsigned depth = device::Mailbox::depth;
    return call.sizes + static_cast<unsigned>(sender) * depth + number % depth;
}

/// True if message `number` need not wait for a place; the same in all threads. Once true it remains so.
template <class Scope>
ATOLL_ANYWHERE bool has_room(const device::detail::Post* counters, unsigned long long number, Scope scope) {
    constexpr unsigned depth = device::Mailbox::depth;
    // Written by earlier calls, which are over: every thread reads the same.
    if (number - counters->seen_taken <= depth) return true;
    int room = 0;
    if (scope.rank() == 0) {
        const auto taken = static_cast<unsigned>(device::load_relaxed(&counters->taken));
        room = static_cast<unsigned>(number) - taken <= depth;
    }
    return scope.broadcast(room) != 0;
}

template <class Scope> ATOLL_ANYWHERE void post(const MailboxCall& call, Scope scope) {
    using device::Operation;
    constexpr unsigned depth = device::Mailbox::depth;
    const device::Mailbox box{call.block, call.room};
    const device::detail::Post* counters = device::detail::post_of(box, call.pe);
    const unsigned long long number = counters->posted + 1;
    if (call.step == MailboxStep::try_post && !has_room(counters, number, scope)) {
        if (scope.rank() == 0) *call.arrived = no_room;
        return;
    }
    const auto flag = static_cast<unsigned>(number);
    FlaggedPair* to = device::detail::near_for(
        call.team, Operation::post, device::detail::message_at(call.team, box, call.team.my_pe, number),
        call.pe);
    FlaggedPair* size =
        device::detail::near_for(call.team, Operation::post, size_at(call, call.team.my_pe, number), call.pe);
    device::detail::Outgoing<Scope> message(call.data, call.bytes, scope);
    device::Outbox<Scope> out(call.team, box, call.pe, scope);
    out.begin();
    if (scope.rank() == 0) {  // this thread also stores the first part
        device::detail::store_flagged(size, call.bytes | upper_half(number), flag);
        device::detail::full_fence();
    }
    message.send(to, flag);
    if (device::detail::is_refreshing<depth>(number))
        message.refresh(to, flag, static_cast<unsigned>(device::detail::pairs_of(call.room)));
    out.end();
    out.close();
}

/// Returns the length of message `number` once it has begun to arrive. Returns no_message if it has not and
/// the call does not wait. Called by one thread.
ATOLL_ANYWHERE inline std::int64_t size_of_next(const MailboxCall& call, unsigned long long number) {
    const device::Mailbox box{call.block, call.room};
    const FlaggedPair* first = device::detail::message_at(call.team, box, call.pe, number);
    const auto flag = static_cast<unsigned>(number);
    unsigned long long data = 0;
    if (call.step == MailboxStep::try_receive) {
        if (!device::detail::load_flagged(first, flag, data)) return no_message;
    } else {
        device::detail::spin(
            call.team, [&] { return device::detail::load_flagged(first, flag, data); },
            [&] {
                return device::detail::waiting(call.team.control, {device::Operation::receive, 0, 0}, first,
                                               call.pe);
            });
    }
    device::detail::full_fence();
    constexpr unsigned long long size_mask = (1ull << size_bits) - 1;
    if (device::detail::load_flagged(size_at(call, call.pe, number), flag, data) &&
        (data & ~size_mask) == upper_half(number))
        return static_cast<std::int64_t>(data & size_mask);
    return static_cast<std::int64_t>(call.bytes < call.room ? call.bytes : call.room);
}

/// Receives a message. misfit(bytes) handles one that does not fit; it does not return if it stops the
/// kernel.
template <class Scope, class Misfit>
ATOLL_ANYWHERE void receive(const MailboxCall& call, Scope scope, Misfit misfit) {
    const device::Mailbox box{call.block, call.room};
    const unsigned long long number = device::detail::post_of(box, call.pe)->received + 1;
    std::int64_t bytes = 0;
    if (scope.rank() == 0) bytes = size_of_next(call, number);
    bytes = scope.broadcast(bytes);
    std::int64_t arrived = no_message;
    if (bytes != no_message) {
        const auto size = static_cast<std::uint64_t>(bytes);
        if (size > call.bytes || size % call.unit != 0) {
            if (!call.refuses) misfit(size);
            arrived = refused(size);
        } else {
            device::Inbox<Scope> in(call.team, box, call.pe, scope);
            in.receive(static_cast<char*>(call.data), size);
            in.close();
            arrived = static_cast<std::int64_t>(size / call.unit);
        }
    }
    if (call.arrived && scope.rank() == 0) *call.arrived = arrived;
}

}  // namespace detail

template <class Scope, class Misfit>
ATOLL_ANYWHERE void perform_mailbox(const MailboxCall& call, Scope scope, Misfit misfit) {
    if (call.step == MailboxStep::post || call.step == MailboxStep::try_post)
        detail::post(call, scope);
    else
        detail::receive(call, scope, misfit);
}

}  // namespace atl::gpu
