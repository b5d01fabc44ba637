// Summary: sums over the events of a trace, from which the reports are made.
#pragma once

#include "cli/trace/job_trace.hpp"
#include "common/recorder/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace atl::cli {

struct Traffic {
    std::uint64_t bytes = 0, calls = 0;
    void add(const Traffic& other) {
        bytes += other.bytes;
        calls += other.calls;
    }
};

/// Arrivals after others, and the time for which these waited.
struct Late {
    std::uint64_t times = 0, ns = 0;
    void add(const Late& other) {
        times += other.times;
        ns += other.ns;
    }
};

/// Time of a PE's first thread. The rest of `all_ns` is the PE's own code.
struct PeTimes {
    int pe = 0;
    std::uint64_t all_ns = 0, within_ns = 0, waiting_ns = 0;
    std::uint64_t moving_ns() const { return within_ns - (waiting_ns < within_ns ? waiting_ns : within_ns); }
    std::uint64_t own_ns() const { return all_ns - (within_ns < all_ns ? within_ns : all_ns); }
    void add(const PeTimes& other) {
        all_ns += other.all_ns;
        within_ns += other.within_ns;
        waiting_ns += other.waiting_ns;
    }
};

struct SiteSummary {
    std::uint64_t calls = 0, bytes = 0, ns = 0, longest_ns = 0, waiting_ns = 0;
    void add(const SiteSummary& other);
};

using PePair = std::pair<int, int>;

struct Summary {
    std::size_t pes = 0, events = 0, meetings = 0;
    std::uint64_t length_ns = 0, dropped = 0;
    std::size_t hosts = 1;
    double clock_error_us = 0;  ///< between hosts
    std::vector<common::PeStatistics> statistics;
    std::vector<PeTimes> times;                  ///< times of PEs with events
    std::map<int, Late> last_to_arrive;          ///< by the PE: the others' time, all together
    std::map<int, std::uint64_t> origins;        ///< ns that others waited, by the PE where the delay began
    std::map<PePair, Late> kept_in_collectives;  ///< by the late PE and the PE that waited for it
    std::map<PePair, Late> kept_by_signals;      ///< the same, by signals and messages
    std::map<PePair, Traffic> traffic;           ///< by the caller and the PE whose memory it accessed
    std::map<std::pair<std::string, std::string>, SiteSummary>
        sites;                                                   ///< by place in the program and operation
    std::map<std::string, std::map<int, std::uint64_t>> ranges;  ///< ns by name and PE
    std::vector<common::PeStatistics> kernel_statistics;         ///< operations inside kernels
    std::map<std::string, std::map<int, std::uint64_t>> kernel_ranges;  ///< ns of all blocks
};

/// Times of PEs: all together, and the PEs with the least and the most.
struct Spread {
    std::uint64_t sum_ns = 0;
    std::pair<int, std::uint64_t> least, most;  ///< PE and ns
};
Spread spread_of(const std::map<int, std::uint64_t>& ns_by_pe);

/// True for calls; false for waits within them, ranges and blocks of the heap.
bool is_call(const common::LoggedEvent& event);

Summary summary_of(const JobTrace& trace);

inline double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }
inline std::string time_of(std::uint64_t ns) { return common::time_text(seconds_of(ns)); }

}  // namespace atl::cli
