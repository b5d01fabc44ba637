// TraceLog: the events of a PE's kernels, in memory of the host that kernels and the launcher share. A PE has
// one for kernels on its GPU and one for those on its CPU. Present in jobs with a trace only.
#pragma once

namespace atl::device {

/// An operation of a kernel, or a range that its author named. Written by one thread once it has ended.
struct alignas(16) TraceRecord {
    unsigned long long began, ended;  ///< ns of the processor's clock: globaltimer, CLOCK_MONOTONIC on CPUs.
                                      ///< `ended` is written last, 0 until then
    /// Bytes moved, offset of the word or of the target in the PE's slot, value stored or awaited. A range
    /// has its name here, in order of the bytes.
    unsigned long long words[3];
    unsigned block, thread;   ///< linear index of the block in the grid, and of the thread in the block
    int peer;                 ///< world PE, -1 without one
    unsigned what;            ///< Operation; trace_range for a range
    unsigned long long grid;  ///< number of the launch on its GPU; 0 on CPUs
};
static_assert(sizeof(TraceRecord) == 64, "a cache line");

constexpr unsigned trace_range = 0x10000;        ///< TraceRecord::what of a range
constexpr unsigned trace_name_bytes = 24;        ///< bytes for a range's name
constexpr unsigned long long no_offset = ~0ull;  ///< an address outside the PE's slot

/// Numbers the records of a log. It lies in memory of the kernels' processor, where atomics are fast.
struct TraceSink {
    unsigned long long next;  ///< records taken so far, dropped ones included
    TraceRecord* records;     ///< the address for that processor
    unsigned long long most;
};

/// A moment on the processor's clock and on the host's.
struct TraceClock {
    unsigned long long device_ns, host_ns;  ///< host: CLOCK_MONOTONIC; 0: not measured
    unsigned long long error_ns;            ///< the most by which they may differ
};

/// Precedes the records. Zeroed memory is a valid empty log.
struct alignas(128) TraceLog {
    TraceSink sink;  ///< used by CPU kernels. GPU kernels write `next` here when a record is
                     ///< dropped, and the host does so at the end
    TraceClock first, last;
    int gpu;                    ///< number of the GPU as its process counts, plus 1; 0: a CPU
    unsigned clock_is_assumed;  ///< 1: globaltimer was not read, it is taken for CLOCK_REALTIME
};
static_assert(sizeof(TraceLog) == 128, "records begin at a line");

}  // namespace atl::device
