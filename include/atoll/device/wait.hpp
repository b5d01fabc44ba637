// How device functions wait: they look, and now and then at what else may end the wait: the end of the job,
// and with ATOLL_CHECK other than none the time that ATOLL_WAIT_TIMEOUT allows; a call's own `bound_ns`,
// where it is not 0, holds in that one's place, whatever ATOLL_CHECK says. On a GPU the kernel then traps,
// the GPU context is lost, and the host says what was waited for; on the host Error is thrown.
#pragma once

#include "atoll/device/control.hpp"
#include "atoll/device/words.hpp"

#if !defined(__CUDACC_RTC__)
#include <sched.h>
#include <time.h>
#endif

namespace atl::device {
inline namespace ATOLL_DEVICE_WAYS {

using atl::Compare;

namespace detail {

using atl::detail::compare;

/// Looks at the word between two looks at what else there is.
#if defined(__CUDA_ARCH__)
constexpr unsigned looks_between = 1024;
#else
constexpr unsigned looks_between = 256;
#endif

/// A call that waits: what it is, what its caller says of it, and how long each of its waits may take.
struct Call {
    Operation operation;
    int tag;
    unsigned long long bound_ns;
};

/// How the host reads a word of that type.
template <class T>
constexpr Values values_of = static_cast<T>(0.5) > static_cast<T>(0)
                                 ? (sizeof(T) == 8 ? Values::float64 : Values::float32)
                             : static_cast<T>(-1) > static_cast<T>(0) ? Values::unsigned_word
                             : sizeof(T) == 8                         ? Values::int64
                                                                      : Values::int32;

template <class T> ATOLL_ANYWHERE unsigned long long bits_of(const T& value) {
    return same_bits<typename Bits<sizeof(T)>::type>(value);
}

ATOLL_ANYWHERE inline Report waiting(const Control* control, const Call& call, const void* address,
                                     int peer = -1) {
    Report report{};
    report.operation = static_cast<int>(call.operation);
    report.team = control->team;
    report.peer = peer;
    report.compare = -1;
    report.tag = call.tag;
    report.bound_ns = call.bound_ns;
    report.address = reinterpret_cast<unsigned long long>(address);
    return report;
}

template <class T>
ATOLL_ANYWHERE Report waiting(const Control* control, const Call& call, const T* word, Compare cmp,
                              T expected, int peer = -1) {
    Report report = waiting(control, call, word, peer);
    report.compare = static_cast<int>(cmp) | static_cast<int>(values_of<T>) << compare_bits;
    report.expected = bits_of(expected);
    report.found = bits_of(device::load_relaxed(word));
    return report;
}

/// If whom this wait is for has ended: its team PE, or, for a wait without one, everybody else.
ATOLL_ANYWHERE inline bool is_for_the_gone(const Control* control, const Watch* watch, int peer) {
    const unsigned gone = load_relaxed(&watch->gone);
    if (gone == 0 || peer < 0) return gone == 2;
    const auto pe = static_cast<unsigned>(control->pes_of[peer]);
    if (pe >= Watch::most_gone) return gone == 2;
    return (load_relaxed(&watch->gone_pes[pe / 32]) >> (pe % 32) & 1) != 0;
}

#if defined(__CUDA_ARCH__)
__device__ inline unsigned long long now_ns() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/// A trap ends all threads of the PE's kernels, so one that has begun to report is let finish.
__device__ __noinline__ inline void trap(const Watch* watch) {
    const unsigned long long since = now_ns();
    while (load_relaxed(&watch->report.state) == 1u && now_ns() - since < 1000000000u) {
    }
    __trap();
}

/// The first thread of the PE's kernels to wait too long, or to be given a wrong PE, says so.
__device__ __noinline__ inline void report_and_trap(Watch* watch, const Report& what, unsigned state = 2) {
    if (atomicCAS_system(&watch->report.state, 0u, 1u) == 0u) {
        Report report = what;
        report.state = 1;
        report.blocks = gridDim.x * gridDim.y * gridDim.z;
        report.threads = blockDim.x * blockDim.y * blockDim.z;
        watch->report = report;
        __threadfence_system();
        store_relaxed(&watch->report.state, state);
        __threadfence_system();
    }
    trap(watch);
}

/// One of those that wait tells the host, which asks a few times a second.
__device__ __noinline__ inline void tell_waiting(Watch* watch, const Report& what) {
    if (atomicCAS_system(&watch->asked, 1u, 2u) != 1u) return;
    watch->waiting = what;
    __threadfence_system();
    store_relaxed(&watch->asked, 3u);
}

/// In `since`: what it waits for was seen to have ended once. What it did last may still be on its way, so
/// the word is looked at again before the kernel gives up.
constexpr unsigned long long seen_gone = 1ull << 63;

__device__ __noinline__ inline unsigned long long look_around(const Control* control, const Report& what,
                                                              unsigned long long since) {
    if (!control->watch) return 0;
    Watch* watch = const_cast<Watch*>(control->watch);
    if (load_relaxed(&watch->abort) != 0) trap(watch);
    const unsigned long long now = now_ns();
    if (is_for_the_gone(control, watch, what.peer)) {
        if ((since & seen_gone) != 0) report_and_trap(watch, what, 3);
        return (since == 0 ? now : since) | seen_gone;
    }
    if (since == 0) return now;
    if (load_relaxed(&watch->asked) == 1u) tell_waiting(watch, what);
    const unsigned long long bound = what.bound_ns != 0 ? what.bound_ns : control->bound_ns;
    if (bound != 0 && now - (since & ~seen_gone) > bound) report_and_trap(watch, what);
    return since;
}
#else
inline unsigned long long now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<unsigned long long>(t.tv_sec) * 1000000000u +
           static_cast<unsigned long long>(t.tv_nsec);
}

inline unsigned long long look_around(const Control* control, const Report& what, unsigned long long since) {
    const Watch* watch = control->watch;
    const unsigned long long now = now_ns();
    if (watch && watch->look) watch->look(*watch, what, since == 0 ? 0 : now - since);
    return since == 0 ? now : since;
}
#endif

/// More PEs than cores is a normal way to run on a host.
ATOLL_ANYWHERE inline void rest(unsigned looks) {
#if !defined(__CUDA_ARCH__)
    if (looks >= 32) ::sched_yield();
#else
    static_cast<void>(looks);
#endif
}

/// Until `seen()`; `describe()` makes the Report of this wait, should it not end. What the slow path needs
/// goes by value, so that the team stays in registers, and is apart from the loop that looks. One short loop:
/// what comes after it is then still among the instructions at hand when the word arrives.
template <class Seen, class Describe>
ATOLL_ANYWHERE void spin(const Team& team, Seen seen, Describe describe) {
    unsigned looks = 0;
    unsigned long long since = 0;
    ATOLL_ROLLED while (!seen()) {
        rest(looks);
        if (__builtin_expect(++looks < looks_between, 1)) continue;
        looks = 0;
        since = look_around(team.control, describe(), since);
    }
}

}  // namespace detail

}  // namespace ATOLL_DEVICE_WAYS
}  // namespace atl::device
