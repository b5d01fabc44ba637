// FarRing: requests of kernels and streams to a thread of the host, for PEs that only a transport reaches.
// The ring is in pinned memory. The thread carries out requests in the order of their tickets.
#pragma once

#include "atoll/anywhere.hpp"

namespace atl::device {

enum class FarKind : unsigned char {
    put,
    get,
    strided_put,
    strided_get,
    atomic,
    fence,  ///< for each PE, delivers earlier puts and atomics before later ones
    quiet,  ///< completes all earlier requests
    flush,  ///< releases the local memory of all earlier requests
    // ---- stream operations on teams, carried out by the team's own thread
    group,
    messages
};

/// One request. `there` and `signal` are addresses in this PE's own slot, and name the same object on world
/// PE `pe`.
struct FarRequest {
    void* there = nullptr;
    void* here = nullptr;  ///< local memory; for an atomic the address of its result, or null
    unsigned long long bytes = 0;
    void* signal = nullptr;  ///< set or added to after a put's data; null: no signal
    unsigned long long value = 0, compare = 0;
    long long there_stride = 0, here_stride = 0;  ///< for strided kinds, with blocks of `bytes` bytes
    unsigned long long count = 0;
    int pe = -1;
    unsigned char operation = 0;  ///< Operation, for errors
    FarKind kind = FarKind::put;
    SignalOp signal_op = SignalOp::set;
    AtomicOp op = AtomicOp::set;
    DType type = DType::uint64;  ///< type of the atomic's word, or of the signal
    bool is_in_slot = false;     ///< the data are in Slot::data, not `here`
    bool is_release = false;     ///< ordered after all earlier requests to that PE
    bool waits = true;           ///< the requester waits, and frees the slot
    bool completes = true;       ///< true: it waits until the effects are visible to every PE; false: until
                                 ///< `here` may be reused
    // A collective goes to `there` from `here`; `pe` is the root's number in the team; `value` is the room of
    // collect. For messages `there` is the host's key.
    unsigned char group = 0;      ///< gpu::Group
    unsigned char reduction = 0;  ///< ReduceOp
    double scale = 1;
};

/// Ring of requests. Each request takes a ticket; tickets use the `n_slots` slots in turn.
struct FarRing {
    static constexpr unsigned n_slots = 64;
    static constexpr unsigned data_bytes = 1024;
    static constexpr unsigned turns = 4, asked = 1, done = 2;
    struct alignas(128) Slot {
        unsigned turn;  ///< turns * round: free; + asked: holds a request; + done: the requester frees it
        unsigned long long result;  ///< an atomic's result
        FarRequest request;
        alignas(16) unsigned char data[data_bytes];
    };
    Slot slots[n_slots];
};

}  // namespace atl::device
