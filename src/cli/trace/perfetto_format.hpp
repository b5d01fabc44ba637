// The format of a trace file: field numbers of Perfetto's protos/perfetto/trace, and our annotations. Tests
// decode the files with Perfetto's own definitions.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string_view>

#include "cli/trace/job_trace.hpp"

namespace atl::cli::perfetto {

namespace field {
inline constexpr unsigned packet = 1;  // field of Trace
namespace of_packet {
inline constexpr unsigned clock_snapshot = 6, timestamp = 8, sequence = 10, track_event = 11, interned = 12,
                          sequence_flags = 13, clock_id = 58, track_descriptor = 60;
}
namespace of_snapshot {
inline constexpr unsigned clock = 1, id = 1, time = 2;
}
namespace of_descriptor {
inline constexpr unsigned uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8, pid = 1,
                          tid = 2, thread_name = 5, process_name = 6, unit = 3;
}
namespace of_event {
inline constexpr unsigned annotation = 4, type = 9, name_number = 10, track = 11, category = 22, name = 23,
                          counter_value = 30, flow = 47, ending_flow = 48;
}
namespace of_annotation {
inline constexpr unsigned name_number = 1, number = 3, text = 6;
}
namespace of_interned {
inline constexpr unsigned event_name = 2, annotation_name = 3, number = 1, name = 2;
}
}  // namespace field

enum EventType : std::uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };
inline constexpr std::uint64_t realtime = 1, monotonic = 3, boottime = 6;  // values of BuiltinClock
inline constexpr std::uint64_t state_cleared = 1, needs_state = 2;         // bits of sequence_flags
inline constexpr std::uint64_t size_in_bytes = 3;                          // value of CounterDescriptor.Unit

/// Version of the annotations below.
inline constexpr std::uint64_t trace_version = 1;
/// Names of annotations; their numbers are 1 + their places. A reader needs all of the first group.
inline constexpr std::array<std::string_view, 27> annotations = {
    "kind",
    "state",
    "operation",
    "team",
    "call",
    "peer",
    "bytes",
    "place",
    "value",
    "waiting_ns",
    "site",
    "thread",
    "version",
    "dropped events",
    "PEs",
    "clock error (us)",
    "last to arrive (PE)",
    "arrived after the first (ns)",
    "skew (ns)",
    "PE",
    "release",
    "end",
    "block",
    "GPU",
    "dropped events of kernels",
    "clock of the GPU",
    "error of that clock (ns)",
};
constexpr std::uint64_t number_of(std::string_view annotation) {
    for (std::size_t i = 0; i < annotations.size(); ++i)
        if (annotations[i] == annotation) return i + 1;
    return 0;
}

/// Tracks of a PE: its process, its threads, and counters.
inline std::uint64_t process_track(int pe) { return (static_cast<std::uint64_t>(pe) + 1) << 20; }
inline std::uint64_t thread_track(int pe, unsigned thread) { return process_track(pe) + 1 + thread; }
inline constexpr std::uint64_t first_kernel = 1 << 18, first_counter = 1 << 19;
/// A track of a PE's kernels. Further ones than have numbers share the last.
inline std::uint64_t kernel_track(int pe, std::uint64_t track) {
    constexpr std::uint64_t last = first_counter - first_kernel - 1;
    return process_track(pe) + first_kernel + (track < last ? track : last);
}
inline std::uint64_t bytes_track(int pe) { return process_track(pe) + first_counter; }
inline std::uint64_t heap_track(int pe) { return process_track(pe) + first_counter + 1; }
inline std::uint64_t flight_track(int pe) { return process_track(pe) + first_counter + 2; }
inline constexpr std::uint64_t job_track = 1;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

}  // namespace atl::cli::perfetto
