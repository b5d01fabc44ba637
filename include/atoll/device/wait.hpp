// The wait of device functions: polls a word, and rarely checks for the end of the job. With ATOLL_CHECK
// other than none it is bounded by ATOLL_WAIT_TIMEOUT. A call's own `bound_ns`, if not 0, replaces that
// bound, whatever ATOLL_CHECK is. When the bound is exceeded on a GPU, the kernel traps, the GPU context is
// lost, and the host reports the wait. On the host Error is thrown.
#pragma once

#include "atoll/device/control.hpp"
#include "atoll/device/words.hpp"

#if !defined(__CUDACC_RTC__)
#include <sched.h>
#include <time.h>
#endif

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

using atl::Compare;

namespace detail {

using atl::detail::compare;

/// Number of polls between two checks for other events. On a busy host each poll may yield for a time slice.
#if defined(__CUDA_ARCH__)
constexpr unsigned polls_between_checks = 1024;
#else
constexpr unsigned polls_between_checks = 64;
#endif

/// A call that waits: its operation, its caller's tag, and the bound of each of its waits.
struct Call {
    Operation operation;
    int tag;
    unsigned long long bound_ns;
};

/// The Values with which the host reads a word of type T.
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
    report.operation = call.operation;
    report.team = control->team;
    report.peer = peer;
    report.tag = call.tag;
    report.bound_ns = call.bound_ns;
    report.address = reinterpret_cast<unsigned long long>(address);
    return report;
}

template <class T>
ATOLL_ANYWHERE Report waiting(const Control* control, const Call& call, const T* word, Compare cmp,
                              T expected, int peer = -1) {
    Report report = waiting(control, call, word, peer);
    report.subject = Subject::word;
    report.compare = cmp;
    report.values = values_of<T>;
    report.word_bytes = sizeof(T);
    report.expected = bits_of(expected);
    report.found = bits_of(device::load_relaxed(word));
    return report;
}

/// True if the awaited PE has ended: team PE `peer`, or, for a wait without one, all other PEs.
ATOLL_ANYWHERE inline bool awaits_exited(const Control* control, const Watch* watch, int peer) {
    const unsigned exited = load_relaxed(&watch->exited);
    if (exited == 0 || peer < 0) return exited == 2;
    const auto pe = static_cast<unsigned>(control->pes_of[peer]);
    if (pe >= Watch::most_exited) return exited == 2;
    return (load_relaxed(&watch->exited_pes[pe / 32]) >> (pe % 32) & 1) != 0;
}

#if defined(__CUDA_ARCH__)
__device__ inline unsigned long long now_ns() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/// Traps, which ends all threads of the PE's kernels. A thread that has begun a report may finish it first.
__device__ __noinline__ inline void trap(const Watch* watch) {
    const unsigned long long since = now_ns();
    while (load_relaxed(&watch->report.state) == 1u && now_ns() - since < 1000000000u) {
    }
    __trap();
}

/// Writes a report but for its state, the first word, with the grid and this thread's position in it. A copy
/// of the whole would hold it in registers, and each kernel that waits would need these.
__device__ __noinline__ inline void write_report(Report* to, const Report& what) {
    static_assert(sizeof(what.state) == sizeof(unsigned) && sizeof(Report) % sizeof(unsigned) == 0, "words");
    auto* const words = reinterpret_cast<unsigned*>(to);
    const auto* const from = reinterpret_cast<const volatile unsigned*>(&what);
    ATOLL_ROLLED for (unsigned i = 1; i < sizeof(Report) / sizeof(unsigned); ++i)
        store_relaxed(words + i, static_cast<unsigned>(from[i]));
    store_relaxed(&to->blocks, gridDim.x * gridDim.y * gridDim.z);
    store_relaxed(&to->threads, blockDim.x * blockDim.y * blockDim.z);
    store_relaxed(&to->block, blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    store_relaxed(&to->thread, threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

/// Reports a wait that exceeded its bound, or a wrong PE, and traps. The first thread of the PE's kernels
/// reports.
__device__ __noinline__ inline void report_and_trap(Watch* watch, const Report& what, unsigned state = 2) {
    if (atomicCAS_system(&watch->report.state, 0u, 1u) == 0u) {
        write_report(&watch->report, what);
        __threadfence_system();
        store_relaxed(&watch->report.state, state);
        __threadfence_system();
    }
    trap(watch);
}

/// Answers the host, which asks a few times a second. One of the waiting threads does so.
__device__ __noinline__ inline void answer_host(Watch* watch, const Report& what) {
    if (atomicCAS_system(&watch->asked, 1u, 2u) != 1u) return;
    write_report(&watch->waiting, what);
    __threadfence_system();
    store_relaxed(&watch->asked, 3u);
}

/// Bit in `since`: the awaited PE was seen to have ended once. Its last writes may still be in flight, so the
/// word is polled again before the kernel gives up.
constexpr unsigned long long seen_exited = 1ull << 63;

__device__ __noinline__ inline unsigned long long check_job(const Control* control, const Report& what,
                                                            unsigned long long since) {
    if (!control->watch) return 0;
    Watch* watch = const_cast<Watch*>(control->watch);
    if (load_relaxed(&watch->abort) != 0) trap(watch);
    const unsigned long long now = now_ns();
    if (awaits_exited(control, watch, what.peer)) {
        if ((since & seen_exited) != 0) report_and_trap(watch, what, 3);
        return (since == 0 ? now : since) | seen_exited;
    }
    if (since == 0) return now;
    if (load_relaxed(&watch->asked) == 1u) answer_host(watch, what);
    const unsigned long long bound = what.bound_ns != 0 ? what.bound_ns : control->bound_ns;
    if (bound != 0 && now - (since & ~seen_exited) > bound) report_and_trap(watch, what);
    return since;
}
#else
inline unsigned long long now_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<unsigned long long>(t.tv_sec) * 1000000000u +
           static_cast<unsigned long long>(t.tv_nsec);
}

inline unsigned long long check_job(const Control* control, const Report& what, unsigned long long since) {
    const Watch* watch = control->watch;
    const unsigned long long now = now_ns();
    if (watch && watch->check) watch->check(*watch, what, since == 0 ? 0 : now - since);
    return since == 0 ? now : since;
}

/// A wait on the host spins for so long. Then it sleeps between its polls, and is reported, as waits in calls
/// of the host are.
constexpr unsigned long long longest_spin_ns = 1000000;

/// True if a wait that began at `since` has spun for long enough, and the job can take it over.
inline bool is_long(const Control* control, unsigned long long since) {
    const Watch* watch = control->watch;
    return since != 0 && watch && watch->pause && now_ns() - since >= longest_spin_ns;
}
#endif

/// Yields on the host, where more PEs than cores are normal.
ATOLL_ANYWHERE inline void rest(unsigned polls) {
#if !defined(__CUDA_ARCH__)
    if (polls >= 32) ::sched_yield();
#else
    static_cast<void>(polls);
#endif
}

#if !defined(__CUDA_ARCH__)
/// The part of `spin` after its first round. Apart from it, so that the first round needs few registers.
template <class Seen, class Describe>
__attribute__((noinline)) void spin_longer(const Control* control, Seen seen, Describe describe) {
    unsigned long long since = 0;
    while (!is_long(control, since)) {
        since = check_job(control, describe(), since);
        for (unsigned polls = 0; polls < polls_between_checks; ++polls) {
            if (seen()) return;
            rest(polls);
        }
    }
    const Watch* watch = control->watch;
    void* wait = nullptr;
    do wait = watch->pause(*watch, describe(), wait);
    while (!seen());
    watch->end(wait);
}
#endif

/// Waits until `seen()`; `describe()` makes the Report of this wait if it does not end. The slow path gets
/// its values by copy and is out of line, so that the team stays in registers. The loop is short: the
/// instructions after it are still fetched when the word arrives.
template <class Seen, class Describe>
ATOLL_ANYWHERE void spin(const Team& team, Seen seen, Describe describe) {
#if defined(__CUDA_ARCH__)
    unsigned long long since = 0;
    for (;;) {
        ATOLL_ROLLED for (unsigned polls = 0; polls < polls_between_checks; ++polls) {
            if (seen()) return;
        }
        since = check_job(team.control, describe(), since);
    }
#else
    for (unsigned polls = 0; polls < polls_between_checks; ++polls) {
        if (seen()) return;
        rest(polls);
    }
    spin_longer(team.control, seen, describe);
#endif
}

/// Waits until `holds` the value of the word, with acquire order.
template <class T, class Holds, class Describe>
ATOLL_ANYWHERE void spin_on(const Team& team, const T* word, Holds holds, Describe describe) {
    const T* const polled = hidden(word);
    spin(
        team, [&] { return holds(load_polled(polled)); }, describe);
    acquire_polled();
}

}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
