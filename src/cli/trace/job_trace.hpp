// JobTrace: the logged events of all PEs of a job, in memory.
#pragma once

#include "cli/trace/kernel_tracks.hpp"
#include "common/board/board.hpp"
#include "common/recorder/event_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace atl::cli {

/// Threads from this number on are lanes of collectives that do not block, as those overlap.
constexpr std::uint16_t first_lane = 1 << 15;

struct PeTrace {
    int pe = 0;
    int pid = 0;
    std::string host;  ///< empty in a job on one host
    common::LogCopy log;
    KernelTracks kernels;
    /// Returns a text such as "PE 3", over several hosts "PE 3 (host b)".
    std::string title() const;
    /// Returns a text such as "sum_reduce", the name of a user's range, or "waiting".
    std::string name_of(const common::LoggedEvent& event) const;
    const std::string& text(std::uint16_t number) const;
    /// Replaces the times of all events, also inside kernels, by `changed` of them.
    template <class Changed> void change_times(Changed&& changed) {
        const auto both = [&](auto& one) {
            one.began = changed(one.began);
            one.ended = changed(one.ended);
        };
        std::for_each(log.events.begin(), log.events.end(), both);
        std::for_each(kernels.slices.begin(), kernels.slices.end(), both);
    }
};

/// An event of a trace: index of the PE in `pes`, and of the event in its log.
struct EventId {
    std::size_t pe = 0, event = 0;
    friend bool operator<(EventId a, EventId b) { return a.pe != b.pe ? a.pe < b.pe : a.event < b.event; }
};

struct JobTrace {
    std::vector<PeTrace> pes;
    double clock_error_us = 0;  ///< bound of the offset between hosts' clocks; 0 on one host

    std::uint64_t dropped() const;
    std::size_t n_hosts() const;
    /// Numbers of processes, by place in `pes`. Those that PEs of several hosts share are replaced.
    std::vector<int> process_numbers() const;
    /// Bound of the error between the clocks of two PEs, given by their places in `pes`.
    std::uint64_t clock_error_ns(std::size_t a, std::size_t b) const;
    std::uint64_t begin_ns() const;  ///< time of the first event; 0 without events
    std::uint64_t end_ns() const;
    const common::LoggedEvent& event(EventId id) const { return pes[id.pe].log.events[id.event]; }
};

/// Reads the log of a PE.
PeTrace trace_of_pe(const common::BoardView& board, int pe);
/// Reads the logs of the PEs of a host.
JobTrace trace_of(const common::BoardView& board);

/// A collective call of a team, by all members that are in the trace.
struct Meeting {
    std::vector<EventId> members;
    EventId first, last;        ///< to arrive
    std::uint64_t skew_ns = 0;  ///< from the first arrival to the last
};
/// By team and number of the call.
std::vector<Meeting> meetings_of(const JobTrace& trace);

/// An operation, and the wait that it ended.
struct Flow {
    EventId from, to;
};
/// Those on hosts: signals and words with the waits for them, sends with receives, posts with receives,
/// releases of locks with acquisitions. Those of kernels are in word_flows.hpp.
std::vector<Flow> flows_of(const JobTrace& trace);
/// Those of messages alone, which are certain: the first send with the first receive, and so on.
std::vector<Flow> messages_of(const JobTrace& trace);

/// Calls `body` with each event that allocates or frees memory of the heap, and the bytes in use after it.
/// The events come in the order of their ends.
void each_heap_change(const PeTrace& pe,
                      const std::function<void(const common::LoggedEvent& event, std::uint64_t used)>& body);

}  // namespace atl::cli
