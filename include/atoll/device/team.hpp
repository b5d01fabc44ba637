// Team: a small value, passed to kernels as an argument. No hidden state, no symbol to fill. C++17 for nvcc,
// NVRTC, g++ and clang++; on the host the same code runs on the host heap.
#pragma once

#include "atoll/anywhere.hpp"

/// Set to 1 by -DATOLL_DEVICE_FAR=1 if the source's kernels address PEs on other hosts. Every kernel that
/// makes such a call then needs more registers (docs/decisions/0041-kernels-to-other-hosts.md), so kernels
/// that stay within a host are compiled without.
#if !defined(ATOLL_DEVICE_FAR)
#define ATOLL_DEVICE_FAR 0
#endif

/// Set to 1 to check in this source that addresses are symmetric (in this PE's own slot). Costs some
/// instructions a call, so it is for debugging.
#if !defined(ATOLL_DEVICE_CHECK_ADDRESSES)
#define ATOLL_DEVICE_CHECK_ADDRESSES 0
#endif

/// Set to 1 to trace this source's kernels in jobs with a trace (atoll/device/trace.hpp). Costs instructions
/// a call, and where there is a trace, time (docs/measurements/2026-11-24-constants.md).
#if !defined(ATOLL_DEVICE_TRACE)
#define ATOLL_DEVICE_TRACE 0
#endif

/// Inline namespace of the functions, one for each combination of these settings. So a program may link
/// sources of several kinds. Structures that the library knows are outside it.
#if ATOLL_DEVICE_FAR
#define ATOLL_DEVICE_REACH far_too
#else
#define ATOLL_DEVICE_REACH near_only
#endif
#if ATOLL_DEVICE_CHECK_ADDRESSES
#define ATOLL_DEVICE_CHECKED _checked
#else
#define ATOLL_DEVICE_CHECKED
#endif
#if ATOLL_DEVICE_TRACE
#define ATOLL_DEVICE_TRACED _traced
#else
#define ATOLL_DEVICE_TRACED
#endif
#define ATOLL_JOIN_NOW(a, b, c) a##b##c
#define ATOLL_JOIN(a, b, c) ATOLL_JOIN_NOW(a, b, c)
#define ATOLL_DEVICE_ROUTES ATOLL_JOIN(ATOLL_DEVICE_REACH, ATOLL_DEVICE_CHECKED, ATOLL_DEVICE_TRACED)

namespace atl::device {

struct Control;    // atoll/device/control.hpp
struct TraceSink;  // atoll/device/detail/trace_log.hpp

/// Prevents deduction of an argument's type: `atomic_add(team, counter, 1, pe)` works with any integer type.
template <class T> struct Same { using type = T; };
template <class T> using SameAs = typename Same<T>::type;

/// A team's geometry, made by `Team::device(Memory)`. PEs that only a transport reaches (on other hosts) have
/// a negative slot, see atoll/device/detail/far.hpp; a team with such PEs has a table. New state goes behind
/// `control`, so that no kernel's signature changes.
struct Team {
    int my_pe;         ///< within the team
    int n_pes;         ///< members of the team
    char* window;      ///< slot 0
    long long stride;  ///< bytes from slot to slot
    int my_slot;
    int first;  ///< team PE i has slot first + i * step,
    int step;
    const int* table;  ///< or table[i] if this is not null
    Control* control;  ///< this PE's, never null; at the same offset in every member's slot
    TraceSink* trace;  ///< null: the job has no trace. An argument, since a kernel's acquire discards what it
                       ///< has read of `control`
};

inline namespace ATOLL_DEVICE_ROUTES {

ATOLL_ANYWHERE inline int slot_of(const Team& team, int pe) {
    return team.table ? team.table[pe] : team.first + pe * team.step;
}

/// Return this PE's number in the team, 0 … n_pes - 1.
ATOLL_ANYWHERE inline int my_pe(const Team& team) { return team.my_pe; }

/// Return the number of PEs of the team.
ATOLL_ANYWHERE inline int n_pes(const Team& team) { return team.n_pes; }

/// Return the number that PE `pe` of `from` has in the team `to`, or -1. The result is -1 if the PE is not in
/// `to`, or `from` has no such PE. Both teams are of one job and one memory.
ATOLL_ANYWHERE inline int translate_pe(const Team& from, int pe, const Team& to) {
    if (pe < 0 || pe >= from.n_pes) return -1;
    const int slot = slot_of(from, pe);
    for (int i = 0; i < to.n_pes; ++i)
        if (slot_of(to, i) == slot) return i;
    return -1;
}

namespace detail {

ATOLL_ANYWHERE inline long long distance_to(const Team& team, int slot) {
    return (slot - team.my_slot) * team.stride;
}
template <class T> ATOLL_ANYWHERE T* at_slot(const Team& team, T* symmetric, int slot) {
    return reinterpret_cast<T*>(reinterpret_cast<unsigned long long>(symmetric) +
                                static_cast<unsigned long long>(distance_to(team, slot)));
}
/// `peer` (atoll/device/peers.hpp) for a PE in the window with a valid number.
template <class T> ATOLL_ANYWHERE T* at(const Team& team, T* symmetric, int pe) {
    return at_slot(team, symmetric, slot_of(team, pe));
}

}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
