// Named ranges of kernels in the trace of `atoll run --trace`. The operations of the other headers are traced
// as well. Only sources compiled with -DATOLL_DEVICE_TRACE=1 write events, and only in a job with a trace.
#pragma once

#include "atoll/device/scope.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

/// A name of at most 24 bytes; further ones are cut. From a literal it is made at compile time.
class TraceName {
  public:
    template <unsigned long N>
    ATOLL_ANYWHERE constexpr TraceName(const char (&text)[N]) : words_{} {  // NOLINT: implicit from a literal
        for (unsigned long i = 0; i < N && i < trace_name_bytes && text[i] != 0; ++i)
            words_[i / 8] |= static_cast<unsigned long long>(static_cast<unsigned char>(text[i]))
                             << i % 8 * 8;
    }
    ATOLL_ANYWHERE constexpr unsigned long long word(unsigned i) const { return words_[i]; }

  private:
    unsigned long long words_[trace_name_bytes / 8];
};

/// Return the time at which a range of the trace begins; 0 without a trace. A job has a trace under `atoll
/// run --trace` (docs/slow.md).
ATOLL_ANYWHERE inline unsigned long long trace_begin(const Team& team) {
#if ATOLL_DEVICE_TRACE
    return detail::is_tracing(team) ? detail::now_ns() : 0;
#else
    static_cast<void>(team);
    return 0;
#endif
}

/// End a range that began at `began`: it is in the trace under its name. The first thread of the scope writes
/// it; of a grid, that of each block. Without a trace nothing is done.
template <class Scope = Thread>
ATOLL_ANYWHERE void trace_end(const Team& team, unsigned long long began, const TraceName& name,
                              Scope scope = {}) {
#if ATOLL_DEVICE_TRACE
    if (began != 0 && detail::TracedBy<Scope>::this_thread(scope))
        detail::write_event(detail::TakenRecord(team.trace).record(), trace_range, began, -1, name.word(0),
                            name.word(1), name.word(2));
#else
    static_cast<void>(team);
    static_cast<void>(began);
    static_cast<void>(name);
    static_cast<void>(scope);
#endif
}

/// A range from construction to destruction. Cheaper than trace_begin and trace_end: its record is taken at
/// its begin, and the number of the record arrives meanwhile.
template <class Scope = Thread> class TraceRange {
  public:
#if ATOLL_DEVICE_TRACE
    ATOLL_ANYWHERE TraceRange(const Team& team, const TraceName& name, Scope scope = {})
        : name_(name),
          taken_(detail::is_tracing(team) && detail::TracedBy<Scope>::this_thread(scope) ? team.trace
                                                                                         : nullptr),
          began_(taken_ ? detail::now_ns() : 0) {}
    ATOLL_ANYWHERE ~TraceRange() {
        if (taken_)
            detail::write_event(taken_.record(), trace_range, began_, -1, name_.word(0), name_.word(1),
                                name_.word(2));
    }
#else
    ATOLL_ANYWHERE TraceRange(const Team& team, const TraceName& name, Scope scope = {}) {
        static_cast<void>(team);
        static_cast<void>(name);
        static_cast<void>(scope);
    }
    ATOLL_ANYWHERE ~TraceRange() {}  // not trivial: an unused variable of this type is no warning
#endif
    TraceRange(const TraceRange&) = delete;
    TraceRange& operator=(const TraceRange&) = delete;

#if ATOLL_DEVICE_TRACE
  private:
    TraceName name_;
    detail::TakenRecord taken_;
    unsigned long long began_;
#endif
};

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
