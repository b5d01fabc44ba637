// Traced: writes an event of a kernel to its PE's log, in sources compiled with -DATOLL_DEVICE_TRACE=1. Other
// sources get no code for it.
#pragma once

#include "atoll/device/wait.hpp"

#if !defined(__CUDA_ARCH__) && !defined(__CUDACC_RTC__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {
namespace detail {

/// Selects the thread that writes the event of a call: the first of its scope.
template <class Scope> struct TracedBy {
    static ATOLL_ANYWHERE bool this_thread(const Scope& scope) { return scope.rank() == 0; }
};

#if ATOLL_DEVICE_TRACE
/// The next record of the log; null if it is full.
ATOLL_ANYWHERE inline TraceRecord* next_record(const Control* control) {
#if defined(__CUDA_ARCH__)
    const unsigned long long n = atomicAdd(control->trace_next, 1ull);
#else
    const unsigned long long n = __atomic_fetch_add(control->trace_next, 1ull, __ATOMIC_RELAXED);
#endif
    if (n < control->trace_most) return control->trace + n;
    // On a GPU the count lies in its memory. On hosts it is the log's own word, which other threads add to.
    unsigned long long* const shown = &(reinterpret_cast<TraceLog*>(control->trace) - 1)->next;
    if (shown != control->trace_next) store_relaxed(shown, n + 1);
    return nullptr;
}

/// Adds block, thread and launch.
ATOLL_ANYWHERE inline void set_place(TraceRecord& record) {
#if defined(__CUDA_ARCH__)
    record.block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    record.thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(record.grid));
#else
    // gettid() needs glibc 2.30.
    static thread_local const auto thread = static_cast<unsigned>(::syscall(SYS_gettid));
    record.block = 0;
    record.thread = thread;
    record.grid = 0;
#endif
}

/// Writes an event that ends now.
ATOLL_APART void write_event(const Control* control, unsigned what, unsigned long long began, int peer,
                             unsigned long long first, unsigned long long second, unsigned long long third) {
    const unsigned long long ended = now_ns();
    TraceRecord* const to = next_record(control);
    if (!to) return;
    TraceRecord record{began, 0, {first, second, third}, 0, 0, peer, what, 0};
    set_place(record);
#if defined(__CUDA_ARCH__)
    record.ended = ended;
    *to = record;
#else
    *to = record;
    store_release(&to->ended, ended);
#endif
}

ATOLL_ANYWHERE inline bool is_tracing(const Team& team) { return team.control && team.control->trace; }

/// An event from construction to destruction. `pe`: the team's, or -1; `place`: a symmetric address, or null.
class Traced {
  public:
    template <class Scope>
    ATOLL_ANYWHERE Traced(const Team& team, const Scope& scope, Operation operation, int pe = -1,
                          const void* place = nullptr, unsigned long long bytes = 0,
                          unsigned long long value = 0)
        : control_(is_tracing(team) && TracedBy<Scope>::this_thread(scope) ? team.control : nullptr) {
        if (!control_) return;
        what_ = static_cast<unsigned>(operation);
        peer_ = static_cast<unsigned>(pe) < static_cast<unsigned>(team.n_pes) ? control_->pes_of[pe] : -1;
        bytes_ = bytes;
        value_ = value;
        const unsigned long long offset =
            reinterpret_cast<unsigned long long>(place) -
            (reinterpret_cast<unsigned long long>(team.window) +
             static_cast<unsigned long long>(team.my_slot) * static_cast<unsigned long long>(team.stride));
        place_ = !place ? 0 : offset < static_cast<unsigned long long>(team.stride) ? offset : no_place;
        began_ = now_ns();
    }
    ATOLL_ANYWHERE ~Traced() {
        if (control_) write_event(control_, what_, began_, peer_, bytes_, place_, value_);
    }
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

  private:
    const Control* control_;
    unsigned what_ = 0;
    int peer_ = -1;
    unsigned long long began_ = 0, bytes_ = 0, place_ = 0, value_ = 0;
};
#else
class [[maybe_unused]] Traced {
  public:
    template <class Scope>
    explicit ATOLL_ANYWHERE Traced(const Team&, const Scope&, Operation, int = -1, const void* = nullptr,
                                   unsigned long long = 0, unsigned long long = 0) {}
};
#endif

}  // namespace detail
}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
