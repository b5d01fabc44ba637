#include "cli/trace/summary.hpp"

#include "cli/trace/origins.hpp"

#include <algorithm>

namespace atl::cli {

using common::EventKind;
using common::LoggedEvent;

void SiteSummary::add(const SiteSummary& other) {
    calls += other.calls;
    bytes += other.bytes;
    ns += other.ns;
    longest_ns = std::max(longest_ns, other.longest_ns);
    waiting_ns += other.waiting_ns;
}

Spread spread_of(const std::map<int, std::uint64_t>& ns_by_pe) {
    const auto [least, most] = std::minmax_element(
        ns_by_pe.begin(), ns_by_pe.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    Spread spread{0, *least, *most};
    for (const auto& [pe, ns] : ns_by_pe) spread.sum_ns += ns;
    return spread;
}

bool is_call(const LoggedEvent& event) {
    return event.kind == EventKind::collective || event.kind == EventKind::move;
}

namespace {

SiteSummary site_of(const LoggedEvent& event) {
    const std::uint64_t ns = event.ended - event.began;
    return {1, event.bytes, ns, ns, event.waiting};
}

/// Calls of one PE, by the numbers of operation and place in the program.
using CallsOfPe = std::map<std::pair<std::uint16_t, std::uint16_t>, SiteSummary>;

common::PeStatistics statistics_of(int pe, const CallsOfPe& calls) {
    common::PeStatistics statistics{pe, {}};
    for (const auto& [key, site] : calls) {
        if (statistics.operations.empty() || statistics.operations.back().operation != key.first)
            statistics.operations.push_back({key.first, 0, 0, 0, 0, 0});
        common::OperationStatistics& one = statistics.operations.back();
        one.calls += site.calls;
        one.bytes += site.bytes;
        one.total_s += seconds_of(site.ns);
        one.longest_s = std::max(one.longest_s, seconds_of(site.longest_ns));
        one.waiting_s += seconds_of(site.waiting_ns);
    }
    return statistics;
}

void add_events_of(const PeTrace& pe, Summary& summary) {
    CallsOfPe calls;
    PeTimes times{pe.pe, 0, 0, 0};
    std::uint64_t first = UINT64_MAX, last = 0;
    for (const LoggedEvent& event : pe.log.events) {
        first = std::min(first, event.began);
        last = std::max(last, event.ended);
        if (event.kind == EventKind::range)
            summary.ranges[pe.name_of(event)][pe.pe] += event.ended - event.began;
        if (event.kind == EventKind::move && event.peer >= 0)
            summary.traffic[{pe.pe, event.peer}].add({event.bytes, 1});
        if (!is_call(event)) continue;
        calls[{event.operation, event.site}].add(site_of(event));
        if (event.thread != 0) continue;
        times.within_ns += event.ended - event.began;
        times.waiting_ns += event.waiting;
    }
    summary.statistics.push_back(statistics_of(pe.pe, calls));
    for (const auto& [key, site] : calls)
        if (key.second != 0)
            summary.sites[{pe.text(key.second), std::string(common::operation_name(key.first))}].add(site);
    if (pe.log.events.empty()) return;
    times.all_ns = last - first;
    summary.times.push_back(times);
}

void add_kernels_of(const PeTrace& pe, Summary& summary) {
    CallsOfPe calls;
    for (const KernelSlice& slice : pe.kernels.slices) {
        const std::uint64_t ns = slice.ended - slice.began;
        if (slice.is_range())
            summary.kernel_ranges[slice.name][pe.pe] += ns;
        else
            calls[{slice.operation, 0}].add({1, slice.bytes, ns, ns, is_kernel_wait(slice) ? ns : 0});
    }
    summary.events += pe.kernels.slices.size();
    if (!calls.empty()) summary.kernel_statistics.push_back(statistics_of(pe.pe, calls));
}

/// Adds the time from `began` for which one PE waited.
void add_origins(const std::vector<Origins::Part>& parts, std::uint64_t began, Summary& summary) {
    for (const Origins::Part& part : parts)
        if (part.ended > began) summary.origins[part.pe] += part.ended - std::max(part.began, began);
}

void add_meetings(const JobTrace& trace, const Origins& origins, Summary& summary) {
    for (const Meeting& meeting : meetings_of(trace)) {
        summary.meetings += 1;
        const int late = trace.pes[meeting.last.pe].pe;
        summary.last_to_arrive[late].times += 1;
        const std::vector<Origins::Part> parts =
            origins.of(meeting.last, trace.event(meeting.first).began, trace.event(meeting.last).began);
        for (const EventId member : meeting.members) {
            if (member.pe == meeting.last.pe) continue;
            const std::uint64_t ns = trace.event(meeting.last).began - trace.event(member).began;
            summary.last_to_arrive[late].ns += ns;
            summary.kept_in_collectives[{late, trace.pes[member.pe].pe}].add({1, ns});
            add_origins(parts, trace.event(member).began, summary);
        }
    }
}

/// The sender kept the receiver waiting from the begin of its wait to that of the operation that ended it.
void add_signals(const JobTrace& trace, const std::vector<Flow>& flows, const Origins& origins,
                 Summary& summary) {
    for (const Flow& flow : flows) {
        const LoggedEvent &from = trace.event(flow.from), &to = trace.event(flow.to);
        if (flow.from.pe == flow.to.pe || from.began <= to.began) continue;
        summary.kept_by_signals[{trace.pes[flow.from.pe].pe, trace.pes[flow.to.pe].pe}].add(
            {1, from.began - to.began});
        add_origins(origins.of(flow.from, to.began, from.began), to.began, summary);
    }
}

}  // namespace

Summary summary_of(const JobTrace& trace) {
    Summary summary;
    summary.pes = trace.pes.size();
    summary.length_ns = trace.end_ns() - trace.begin_ns();
    summary.dropped = trace.dropped();
    summary.hosts = trace.n_hosts();
    summary.clock_error_us = trace.clock_error_us;
    for (const PeTrace& pe : trace.pes) {
        summary.events += pe.log.events.size();
        add_events_of(pe, summary);
        add_kernels_of(pe, summary);
    }
    const std::vector<Flow> flows = flows_of(trace);
    const Origins origins(trace, flows);
    add_meetings(trace, origins, summary);
    add_signals(trace, flows, origins, summary);
    return summary;
}

}  // namespace atl::cli
