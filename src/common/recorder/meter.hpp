// Meter: counts and times the operations of a PE, for statistics and traces. Its counters are on the job
// board, where the launcher reads them even after the PE was killed.
//
// A job without statistics has no Meter. With them, Window::counts sends every operation to its routed form
// (include/atoll/detail/context_base.hpp), where it is measured.
#pragma once

#include "common/recorder/event_log.hpp"
#include "common/recorder/ticks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace atl::common {

struct alignas(64) OperationCounters {
    std::atomic<std::uint64_t> calls, bytes;
    std::atomic<std::uint64_t> ticks;    ///< time of all calls: that of untimed calls is estimated
    std::atomic<std::uint64_t> longest;  ///< ticks
    std::atomic<std::uint64_t> waiting;  ///< ticks within waits of the library
};
static_assert(sizeof(OperationCounters) == 64);

/// The counters of a PE. Zeroed memory is valid.
struct alignas(64) PeCounters {
    std::atomic<std::uint64_t> is_on, uses_counter, began_ticks, began_ns;
    OperationCounters own[operation_count];     ///< calls of the thread that called init
    OperationCounters others[operation_count];  ///< calls of all other threads
};

/// A thread's place among measured calls and waits. A call keeps it, since a look-up in thread-local storage
/// of a shared library is a call.
struct ThreadMeasurement {
    bool within_call = false, within_wait = false;
    std::uint64_t waited = 0;  ///< ticks of its waits so far
    std::uint64_t wait_began = 0;
    int exceptions = 0;  ///< in flight as the measured call began: more at its end tell that it failed
    LogWriter* writer = nullptr;  ///< this thread's, once it has written to a log
};

class Meter {
  public:
    /// The calling thread becomes the one whose counts take no atomic operation.
    /// `log` is null without a trace.
    explicit Meter(PeCounters& counters, EventLog* log = nullptr) noexcept;
    Meter(const Meter&) = delete;
    Meter& operator=(const Meter&) = delete;

    std::uint64_t now() const noexcept { return uses_counter_ ? counter_ticks() : now_ns(); }
    const PeCounters& counters() const { return counters_; }
    EventLog* log() const { return log_; }

    /// Calls of a short operation that are timed: the first, and then one in `sample`.
    static constexpr std::uint64_t timed_at_first = 64, sample = 16;
    /// The number of calls that the next call's time counts for; 0: it is not timed.
    std::uint64_t weight_of_next(std::uint16_t operation) const noexcept;

    /// A call that has ended.
    struct Ended {
        std::uint16_t operation = 0;
        std::uint64_t bytes = 0;
        std::uint64_t ticks = 0, waiting = 0;
        std::uint64_t weight = 1;  ///< result of weight_of_next
    };
    void add(const Ended& call) noexcept;
    /// Logs a call with its times, and its place in the program if it took long. Only with a log.
    void log_call(LoggedEvent event, const Ended& call, ThreadMeasurement& measurement) const noexcept;

    /// Marks this thread as within a measured call, until leave(). Null if it is within one already: only
    /// the outermost call counts.
    static ThreadMeasurement* enter() noexcept;
    static void leave(ThreadMeasurement& measurement) noexcept { measurement.within_call = false; }

    /// Begins a wait of this thread. Returns false if the thread is within a wait already.
    bool begin_wait() const noexcept;
    void end_wait() const noexcept;
    /// A wait that lasts as long as this object.
    class Wait {
      public:
        explicit Wait(const Meter* meter) noexcept {
            if (meter != nullptr && meter->begin_wait()) [[unlikely]]
                meter_ = meter;
        }
        ~Wait() {
            if (meter_ != nullptr) [[unlikely]]
                meter_->end_wait();
        }
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;

      private:
        const Meter* meter_ = nullptr;
    };

  private:
    OperationCounters& of(std::uint16_t operation) const noexcept {
        return (is_owner() ? counters_.own : counters_.others)[operation];
    }
    bool is_owner() const noexcept { return owner_ == __builtin_thread_pointer(); }

    PeCounters& counters_;
    EventLog* const log_;
    const void* const owner_;
    bool uses_counter_;
};

}  // namespace atl::common
