// What kernels and streams ask of a thread of the host, for PEs that only a transport reaches: requests in a
// ring of pinned memory, which that thread carries out in the order of their tickets.
#pragma once

#include "atoll/anywhere.hpp"

namespace atl::device {

enum class FarKind : unsigned char {
    put,
    get,
    strided_put,
    strided_get,
    atomic,
    fence,  ///< puts and atomics asked for before are delivered before those asked for after it, at each PE
    quiet,  ///< all that was asked for before is complete
    flush,  ///< and of this the requester's memory is its own again
    // ---- of streams, on teams: carried out by a thread of the team's own
    group,
    messages
};

/// `there` and `signal` are addresses in this PE's own slot, and mean the same object on world PE `pe`.
struct FarRequest {
    void* there = nullptr;
    void* here = nullptr;  ///< local memory; of an atomic where its result goes too, or null
    unsigned long long bytes = 0;
    void* signal = nullptr;  ///< set or added to after a put's data; null: none
    unsigned long long value = 0, compare = 0;
    long long there_stride = 0, here_stride = 0;  ///< of strided ones, whose blocks have `bytes` each
    unsigned long long count = 0;
    int pe = -1;
    unsigned char operation = 0;  ///< Operation, for people
    FarKind kind = FarKind::put;
    SignalOp signal_op = SignalOp::set;
    AtomicOp op = AtomicOp::set;
    DType type = DType::uint64;  ///< of an atomic's word, or of the signal
    bool is_in_slot = false;     ///< the data stand, or are wanted, in Slot::data, not `here`
    bool is_release = false;     ///< after all that was asked for before for that PE
    bool waits = true;           ///< the requester waits, and gives the slot back
    bool completes = true;       ///< it waits until everybody sees what was done, else until `here` is free
    // Of a collective: to `there` from `here`; `pe` is the root, in the team; `value` is the room of collect.
    // Of messages `there` is what the host knows them by.
    unsigned char group = 0;      ///< heap::Group
    unsigned char reduction = 0;  ///< ReduceOp
    double scale = 1;
};

/// Each request takes a ticket, and `n_slots` tickets go round the slots.
struct FarRing {
    static constexpr unsigned n_slots = 64;
    static constexpr unsigned data_bytes = 1024;
    static constexpr unsigned turns = 4, asked = 1, done = 2;
    struct alignas(128) Slot {
        unsigned
            turn;  ///< turns * round: free; + asked: a request stands here; + done: it gives the slot back
        unsigned long long result;  ///< of an atomic
        FarRequest request;
        alignas(16) unsigned char data[data_bytes];
    };
    Slot slots[n_slots];
};

}  // namespace atl::device
