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
ATOLL_ANYWHERE inline bool is_tracing(const Team& team) { return team.trace != nullptr; }

/// A record that one thread has taken from the log. Nothing here waits for memory before record(): the number
/// and the fields of the sink arrive during the operation that is traced.
class TakenRecord {
  public:
    /// `sink` may be null: takes nothing.
    explicit ATOLL_ANYWHERE TakenRecord(TraceSink* sink) : sink_(sink) {
        if (!sink_) return;
#if defined(__CUDA_ARCH__)
        // If all threads of a warp have one address, the compiler adds once for them, and its shuffle waits
        // for the sum. So the address depends on the thread, by bits of its number that are 0.
        asm volatile(
            "{ .reg .b32 t; .reg .b64 a; mov.u32 t, %%tid.x; shr.u32 t, t, 30; cvt.u64.u32 a, t;\n"
            "add.u64 a, a, %1; atom.relaxed.gpu.global.add.u64 %0, [a], 1; }"
            : "=l"(number_)
            : "l"(&sink_->next)
            : "memory");
#else
        number_ = __atomic_fetch_add(&sink_->next, 1ull, __ATOMIC_RELAXED);
#endif
        records_ = sink_->records;
        most_ = sink_->most;
    }
    ATOLL_ANYWHERE explicit operator bool() const { return sink_ != nullptr; }
    /// Null if the log is full.
    ATOLL_ANYWHERE TraceRecord* record() const {
        if (number_ < most_) return records_ + number_;
        // On a GPU the count lies in its memory. On hosts it is the log's own word.
        unsigned long long* const shown = &(reinterpret_cast<TraceLog*>(records_) - 1)->sink.next;
        if (shown != &sink_->next) store_relaxed(shown, load_relaxed(&sink_->next));
        return nullptr;
    }

  private:
    TraceSink* sink_;
    unsigned long long number_ = 0, most_ = 0;
    TraceRecord* records_ = nullptr;
};

/// Adds block, thread and launch.
ATOLL_ANYWHERE inline void set_position(TraceRecord& record) {
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

#if defined(__CUDA_ARCH__)
/// Four stores; the compiler would make six, since some fields are known later.
__device__ inline void store_record(TraceRecord* to, const TraceRecord& from) {
    const auto pair = [to](int at, unsigned long long first, unsigned long long second) {
        asm volatile("st.global.v2.u64 [%0], {%1, %2};" ::"l"(reinterpret_cast<char*>(to) + at), "l"(first),
                     "l"(second));
    };
    const auto joined = [](unsigned low, unsigned high) {
        return low | static_cast<unsigned long long>(high) << 32;
    };
    pair(16, from.words[0], from.words[1]);
    pair(48, joined(static_cast<unsigned>(from.peer), from.what), from.grid);
    pair(32, from.words[2], joined(from.block, from.thread));
    pair(0, from.began, from.ended);
}
#endif

/// Writes an event that ends now. `to` may be null.
ATOLL_APART void write_event(TraceRecord* to, unsigned what, unsigned long long began, int peer,
                             unsigned long long first, unsigned long long second, unsigned long long third) {
    const unsigned long long ended = now_ns();
    if (!to) return;
    TraceRecord record{began, 0, {first, second, third}, 0, 0, peer, what, 0};
    set_position(record);
#if defined(__CUDA_ARCH__)
    record.ended = ended;
    store_record(to, record);
#else
    *to = record;
    store_release(&to->ended, ended);
#endif
}

/// An event from construction to destruction. `pe`: the team's, or -1; `address`: a symmetric address, or
/// null.
class Traced {
  public:
    template <class Scope>
    ATOLL_ANYWHERE Traced(const Team& team, const Scope& scope, Operation operation, int pe = -1,
                          const void* address = nullptr, unsigned long long bytes = 0,
                          unsigned long long value = 0)
        : taken_(is_tracing(team) && TracedBy<Scope>::this_thread(scope) ? team.trace : nullptr) {
        if (!taken_) return;
        what_ = static_cast<unsigned>(operation);
        if (static_cast<unsigned>(pe) < static_cast<unsigned>(team.n_pes))
            peer_ = array_at<const int>(team.control, ControlLayout{team.n_pes}.pes_of())[pe];
        bytes_ = bytes;
        value_ = value;
        const unsigned long long offset =
            reinterpret_cast<unsigned long long>(address) -
            (reinterpret_cast<unsigned long long>(team.window) +
             static_cast<unsigned long long>(team.my_slot) * static_cast<unsigned long long>(team.stride));
        offset_ = !address ? 0 : offset < static_cast<unsigned long long>(team.stride) ? offset : no_offset;
        began_ = now_ns();
    }
    ATOLL_ANYWHERE ~Traced() {
        if (taken_) write_event(taken_.record(), what_, began_, peer_, bytes_, offset_, value_);
    }
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

  private:
    const TakenRecord taken_;
    unsigned what_ = 0;
    int peer_ = -1;
    unsigned long long began_ = 0, bytes_ = 0, offset_ = 0, value_ = 0;
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
