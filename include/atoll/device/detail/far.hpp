// Operations on PEs that only a transport reaches (on other hosts). A thread of the host carries them out,
// see far_ring.hpp. Such PEs have a negative slot, so each operation needs one comparison. All of this is out
// of line, with few arguments, so that the code for near PEs does not change.
//
// Puts that fit into a request, and atomics that do not fetch, return once requested. Larger puts return when
// their source may be reused. Gets and fetching atomics return with the value.
#pragma once

#include "atoll/device/detail/far_ring.hpp"
#include "atoll/device/wait.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

ATOLL_ANYWHERE inline bool is_far(int slot) { return ATOLL_DEVICE_FAR != 0 && __builtin_expect(slot < 0, 0); }
/// The entry of a far PE in Team::table.
ATOLL_ANYWHERE constexpr int far_slot(int world_pe) { return ~world_pe; }
ATOLL_ANYWHERE constexpr int far_pe(int slot) { return ~slot; }

/// True if the team has far PEs. Such teams always have a table.
ATOLL_ANYWHERE inline bool has_far(const Team& team) {
    return ATOLL_DEVICE_FAR != 0 && team.table && team.control->far_ring;
}

/// The constants of a call site, packed into one register.
struct FarCode {
    Operation operation;
    FarKind kind;
    AtomicOp op;
    DType type;
    SignalOp signal_op;
    bool is_release;
    bool waits;

    ATOLL_ANYWHERE constexpr unsigned packed() const {
        return static_cast<unsigned>(operation) | static_cast<unsigned>(kind) << 8 |
               static_cast<unsigned>(op) << 12 | static_cast<unsigned>(type) << 16 |
               static_cast<unsigned>(signal_op) << 20 | (is_release ? 1u << 21 : 0u) |
               (waits ? 1u << 22 : 0u);
    }
    static ATOLL_ANYWHERE constexpr FarCode of(unsigned packed) {
        return {static_cast<Operation>(packed & 0xff),
                static_cast<FarKind>(packed >> 8 & 0xf),
                static_cast<AtomicOp>(packed >> 12 & 0xf),
                static_cast<DType>(packed >> 16 & 0xf),
                static_cast<SignalOp>(packed >> 20 & 1),
                (packed >> 21 & 1) != 0,
                (packed >> 22 & 1) != 0};
    }
};
ATOLL_ANYWHERE constexpr unsigned far_code(Operation operation, FarKind kind, bool waits) {
    return FarCode{operation, kind, AtomicOp::set, DType::uint64, SignalOp::set, false, waits}.packed();
}
ATOLL_ANYWHERE constexpr unsigned far_code(Operation operation, AtomicOp op, DType type, bool waits,
                                           bool is_release = false) {
    return FarCode{operation, FarKind::atomic, op, type, SignalOp::set, is_release, waits}.packed();
}
ATOLL_ANYWHERE constexpr unsigned far_code(Operation operation, DType signal, SignalOp op, bool waits) {
    return FarCode{operation, FarKind::put, AtomicOp::set, signal, op, true, waits}.packed();
}

ATOLL_ANYWHERE inline Report far_report(const Control* control, Operation operation, int pe,
                                        Subject subject) {
    Report what{};
    what.operation = operation;
    what.team = control->team;
    what.peer = -1;
    what.subject = subject;
    what.found = static_cast<unsigned long long>(pe);
    return what;
}
ATOLL_ANYWHERE inline Report far_report(const Control* control, const FarRequest& request) {
    return far_report(control, static_cast<Operation>(request.operation), request.pe, Subject::far_wait);
}

/// Paces polls of pinned memory: polls by many threads would delay its writer.
ATOLL_ANYWHERE inline void pause_far() {
#if defined(__CUDA_ARCH__)
    __nanosleep(200);
#endif
}

/// Takes this PE's next ticket.
ATOLL_ANYWHERE inline unsigned long long take_ticket(unsigned long long* tickets) {
#if defined(__CUDA_ARCH__)
    return atomicAdd(tickets, 1ull);
#else
    return __atomic_fetch_add(tickets, 1ull, __ATOMIC_RELAXED);
#endif
}

/// True if the host can copy the memory. It cannot copy a kernel's shared memory or stack.
ATOLL_ANYWHERE inline bool host_reaches(const void* memory) {
#if defined(__CUDA_ARCH__)
    return __isGlobal(memory);
#else
    return memory != nullptr;
#endif
}

ATOLL_ANYWHERE inline void copy_few(void* dst, const void* src, unsigned bytes) {
    const auto both = reinterpret_cast<unsigned long long>(dst) | reinterpret_cast<unsigned long long>(src);
    const unsigned unit = both % 8 == 0 ? 8 : 1;
    ATOLL_ROLLED for (unsigned i = 0; i < bytes;) {
        void* to = static_cast<char*>(dst) + i;
        const void* from = static_cast<const char*>(src) + i;
        if (unit <= bytes - i && unit == 8) {
            *static_cast<Raw<unsigned long long>*>(to) = *static_cast<const Raw<unsigned long long>*>(from);
            i += 8;
        } else {
            *static_cast<char*>(to) = *static_cast<const char*>(from);
            ++i;
        }
    }
}

/// Copies a request and its data into a slot.
ATOLL_ANYWHERE inline void fill_slot(FarRing::Slot* slot, const FarRequest& request) {
    copy_few(&slot->request, &request, sizeof request);
    if (request.is_in_slot && request.kind == FarKind::put)
        copy_few(slot->data, request.here, static_cast<unsigned>(request.bytes));
}
ATOLL_ANYWHERE inline void empty_slot(const FarRing::Slot* slot, FarRequest& request) {
    if (request.is_in_slot && request.kind == FarKind::get)
        copy_few(request.here, slot->data, static_cast<unsigned>(request.bytes));
    if (request.kind == FarKind::atomic) request.value = slot->result;
}

/// The state of one request on its way through the ring. It is in memory, so that a waiting kernel needs few
/// registers.
struct FarPending {
    FarRequest request;
    const Control* control;
    FarRing::Slot* slot;
    unsigned awaited;
    unsigned long long since;
    unsigned long long left;  ///< bytes left of a copy in pieces, including this one
    void* signal;             ///< signal of the last piece
};

/// Polls the slot a few times. Once the slot is free, writes the request; if the requester waits, polls on
/// until it is done. Returns true at the end. An atomic's result goes to `value`. One loop serves both waits,
/// its state is in memory, and it calls no function: this saves registers in kernels.
ATOLL_APART bool far_step(FarPending& pending) {
    FarRing::Slot* slot = pending.slot;
    for (unsigned polls = 0; polls < polls_between_checks; ++polls) {
        const unsigned awaited = pending.awaited;
        if (load_acquire(&slot->turn) == awaited) {
            if (awaited % FarRing::turns == FarRing::done) {
                empty_slot(slot, pending.request);
                store_release(&slot->turn, awaited - FarRing::done + FarRing::turns);
                return true;
            }
            fill_slot(slot, pending.request);
            store_release(&slot->turn, awaited + FarRing::asked);
            if (!pending.request.waits) return true;
            pending.awaited = awaited + FarRing::done;
        }
        rest(polls);
        pause_far();
    }
    return false;
}

ATOLL_ANYWHERE inline void far_request(FarPending& pending, FarRing* ring, unsigned long long* tickets) {
    const unsigned long long ticket = take_ticket(tickets);
    pending.slot = ring->slots + ticket % FarRing::n_slots;
    pending.awaited = static_cast<unsigned>(ticket / FarRing::n_slots) * FarRing::turns;
    pending.since = 0;
    while (!far_step(pending))
        pending.since =
            check_job(pending.control, far_report(pending.control, pending.request), pending.since);
}

ATOLL_ANYWHERE inline void far_request(FarPending& pending) {
    far_request(pending, pending.control->far_ring, pending.control->far_tickets);
}

ATOLL_ANYWHERE inline FarPending far_pending(const Control* control, const FarCode& code, int slot,
                                             void* there, void* here, unsigned long long bytes,
                                             unsigned long long value) {
    FarPending pending{};
    pending.control = control;
    FarRequest& request = pending.request;
    request.there = there;
    request.here = here;
    request.bytes = bytes;
    request.value = value;
    request.pe = far_pe(slot);
    request.operation = static_cast<unsigned char>(code.operation);
    request.kind = code.kind;
    request.signal_op = code.signal_op;
    request.op = code.op;
    request.type = code.type;
    request.is_release = code.is_release;
    request.waits = code.waits;
    request.completes = code.kind == FarKind::quiet;
    return pending;
}

/// Requests an operation on one word: an atomic, a put of `bytes` bytes of `value`, or a get of that many.
/// Returns the fetched value.
ATOLL_APART unsigned long long far_word(const Control* control, unsigned packed, int slot, void* there,
                                        unsigned bytes, unsigned long long value,
                                        unsigned long long compare) {
    const FarCode code = FarCode::of(packed);
    FarPending pending = far_pending(control, code, slot, there, &value, bytes, value);
    pending.request.compare = compare;
    pending.request.is_in_slot = true;
    far_request(pending);
    return pending.request.kind == FarKind::get ? value : pending.request.value;
}

/// Gets up to this size return through the ring; for longer ones a copy engine writes the target.
constexpr unsigned far_short_get_bytes = 64;

/// put, get, and put_signal if `signal` is not null. Called by one thread of the scope, after a barrier of
/// the scope. Without code.waits the library owns `here` until flush or quiet.
ATOLL_APART void far_copy(const Control* control, unsigned packed, int slot, void* there, void* here,
                          unsigned long long bytes, void* signal, unsigned long long value) {
    const FarCode code = FarCode::of(packed);
    const bool is_put = code.kind == FarKind::put;
    FarPending pending = far_pending(control, code, slot, there, here, bytes, value);
    FarRequest& request = pending.request;
    request.is_in_slot = bytes <= (is_put ? FarRing::data_bytes : far_short_get_bytes) || !host_reaches(here);
    if (request.is_in_slot) request.waits = !is_put;
    pending.left = bytes;
    pending.signal = signal;
    for (;;) {
        const bool is_last = !request.is_in_slot || pending.left <= FarRing::data_bytes;
        request.bytes = is_last ? pending.left : FarRing::data_bytes;
        request.signal = is_last ? pending.signal : nullptr;
        far_request(pending);
        pending.left -= request.bytes;
        if (pending.left == 0) return;
        request.there = static_cast<char*>(request.there) + request.bytes;
        request.here = static_cast<char*>(request.here) + request.bytes;
    }
}

/// Moves `count` blocks of `bytes` bytes; strides in bytes.
ATOLL_APART void far_strided(const Control* control, unsigned packed, int slot, void* there, void* here,
                             long long there_stride, long long here_stride, unsigned long long bytes,
                             unsigned long long count) {
    const FarCode code = FarCode::of(packed);
    const auto least = static_cast<long long>(bytes);
    if (!host_reaches(here) || there_stride < least || here_stride < least) {
        for (; count != 0; --count) {
            far_copy(control, packed, slot, there, here, bytes, nullptr, 0);
            there = static_cast<char*>(there) + there_stride;
            here = static_cast<char*>(here) + here_stride;
        }
        return;
    }
    FarPending pending = far_pending(control, code, slot, there, here, bytes, 0);
    pending.request.there_stride = there_stride;
    pending.request.here_stride = here_stride;
    pending.request.count = count;
    pending.request.kind = code.kind == FarKind::put ? FarKind::strided_put : FarKind::strided_get;
    far_request(pending);
}

/// quiet, flush or fence for requests to far PEs. Does nothing if the team has none.
template <class Scope>
ATOLL_ANYWHERE void settle_far(const Team& team, Operation operation, FarKind kind, Scope scope) {
    if (!has_far(team)) return;
    scope.sync();
    if (scope.rank() == 0)
        far_word(team.control, far_code(operation, kind, kind != FarKind::fence), far_slot(-1), nullptr, 0, 0,
                 0);
}

#if defined(__CUDA_ARCH__)
__device__ __noinline__ inline void refuse_far(const Control* control, Operation operation, int slot) {
    if (control->watch)
        report_and_trap(const_cast<Watch*>(control->watch),
                        far_report(control, operation, far_pe(slot), Subject::not_reached));
    __trap();
}
#else
inline void refuse_far(const Control* control, Operation operation, int slot) {
    if (control->watch && control->watch->check)
        control->watch->check(*control->watch,
                              far_report(control, operation, far_pe(slot), Subject::not_reached), 0);
    __builtin_trap();
}
#endif

ATOLL_APART void refuse_team(const Control* control, Operation operation, const int* table) {
    while (*table >= 0) ++table;
    refuse_far(control, operation, *table);
}

/// Ends the kernel with a report if the team has far PEs: for operations not implemented for them.
ATOLL_ANYWHERE inline void check_near(const Team& team, Operation operation) {
    if (has_far(team)) refuse_team(team.control, operation, team.table);
}

}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
