#include "cli/trace/job_trace.hpp"

#include "cli/trace/word_flows.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

namespace atl::cli {

using common::EventKind;
using common::LoggedEvent;

const std::string& PeTrace::text(std::uint16_t number) const {
    static const std::string none;
    return number < log.texts.size() ? log.texts[number] : none;
}

std::string PeTrace::title() const {
    return "PE " + std::to_string(pe) + (host.empty() ? "" : " (host " + host + ")");
}

std::string PeTrace::name_of(const LoggedEvent& event) const {
    if (event.kind == EventKind::range) {
        const std::string& name = text(static_cast<std::uint16_t>(event.value));
        return name.empty() ? "range" : name;
    }
    if (event.kind == EventKind::wait)
        return event.peer < 0 ? "waiting" : "waiting for PE " + std::to_string(event.peer);
    if (event.operation != 0) return std::string(common::operation_name(event.operation));
    return std::string(common::event_names[static_cast<std::size_t>(event.kind)]);
}

std::uint64_t JobTrace::dropped() const {
    std::uint64_t sum = 0;
    for (const PeTrace& pe : pes) sum += pe.log.dropped + pe.kernels.dropped;
    return sum;
}

std::size_t JobTrace::n_hosts() const {
    std::set<std::string_view> hosts;
    for (const PeTrace& pe : pes) hosts.insert(pe.host);
    return hosts.size();
}

std::vector<int> JobTrace::process_numbers() const {
    // Above those of the kernel, and below those of threads in the file.
    constexpr int first_free = 0x20000000;
    std::vector<int> numbers;
    std::set<int> taken;
    for (const PeTrace& pe : pes) {
        const bool is_free = pe.host.empty() || (pe.pid != 0 && taken.insert(pe.pid).second);
        numbers.push_back(is_free ? pe.pid : first_free + pe.pe);
    }
    return numbers;
}

std::uint64_t JobTrace::clock_error_ns(std::size_t a, std::size_t b) const {
    return pes[a].host == pes[b].host ? 0 : static_cast<std::uint64_t>(clock_error_us * 1e3);
}

std::uint64_t JobTrace::begin_ns() const {
    std::uint64_t first = 0;
    const auto see = [&](std::uint64_t began) {
        if (first == 0 || began < first) first = began;
    };
    for (const PeTrace& pe : pes) {
        for (const LoggedEvent& event : pe.log.events) see(event.began);
        for (const KernelSlice& slice : pe.kernels.slices) see(slice.began);
    }
    return first;
}

std::uint64_t JobTrace::end_ns() const {
    std::uint64_t last = 0;
    for (const PeTrace& pe : pes) {
        for (const LoggedEvent& event : pe.log.events) last = std::max(last, event.ended);
        for (const KernelSlice& slice : pe.kernels.slices) last = std::max(last, slice.ended);
    }
    return last;
}

namespace {

/// Waits in which the PE was killed.
void add_unended_waits(const std::vector<common::EventCopy>& recorded, std::uint64_t now_ns,
                       common::LogCopy& log) {
    for (const common::EventCopy& event : recorded) {
        if (event.kind != EventKind::wait || event.state >= common::EventState::ended || event.began_ns == 0)
            continue;
        LoggedEvent wait;
        wait.kind = event.kind;
        wait.state = event.state;
        wait.operation = event.operation;
        wait.team = event.team;
        wait.call = event.call;
        wait.peer = event.peer;
        wait.began = event.began_ns;
        wait.ended = now_ns;
        wait.waiting = now_ns - event.began_ns;
        if (!event.site.empty()) {
            wait.site = static_cast<std::uint16_t>(log.texts.size());
            log.texts.push_back(event.site);
        }
        log.events.push_back(wait);
    }
}

/// Assigns the first free lane to each non-blocking collective.
void spread_over_lanes(std::vector<LoggedEvent>& events) {
    std::vector<LoggedEvent*> requests;
    for (LoggedEvent& event : events)
        if (event.kind == EventKind::request) requests.push_back(&event);
    std::stable_sort(requests.begin(), requests.end(),
                     [](const LoggedEvent* a, const LoggedEvent* b) { return a->began < b->began; });
    std::vector<std::uint64_t> ends;  // end of the last one in each lane
    for (LoggedEvent* request : requests) {
        auto lane =
            std::find_if(ends.begin(), ends.end(), [&](std::uint64_t end) { return end <= request->began; });
        if (lane == ends.end() && ends.size() < first_lane) lane = ends.insert(lane, 0);
        if (lane == ends.end()) --lane;
        *lane = request->ended;
        request->thread = static_cast<std::uint16_t>(first_lane + (lane - ends.begin()));
    }
}

}  // namespace

PeTrace trace_of_pe(const common::BoardView& board, int pe) {
    PeTrace one;
    one.pe = pe;
    one.pid = board.entry(pe).pid.load(std::memory_order_relaxed);
    one.log = common::read_log(board.log(pe), board.header().log_events);
    add_unended_waits(common::read_events(board.events(pe)), common::now_ns(), one.log);
    spread_over_lanes(one.log.events);
    one.kernels = kernel_tracks_of(board, pe);
    return one;
}

JobTrace trace_of(const common::BoardView& board) {
    JobTrace trace;
    for (int pe = 0; pe < board.n_pes(); ++pe) trace.pes.push_back(trace_of_pe(board, pe));
    return trace;
}

namespace {

template <class Body> void each_event(const JobTrace& trace, Body&& body) {
    for (std::size_t p = 0; p < trace.pes.size(); ++p)
        for (std::size_t e = 0; e < trace.pes[p].log.events.size(); ++e)
            body(EventId{p, e}, trace.pes[p].log.events[e]);
}

/// Events by a key, in the order in which they began.
template <class Key> using Index = std::map<Key, std::vector<EventId>>;

template <class Key> void sort_by_begin(const JobTrace& trace, Index<Key>& index) {
    for (auto& [key, events] : index)
        std::stable_sort(events.begin(), events.end(),
                         [&](EventId a, EventId b) { return trace.event(a).began < trace.event(b).began; });
}

/// Messages between the same two PEs keep their order.
void add_messages(const JobTrace& trace, std::vector<Flow>& flows, std::string_view sends,
                  std::string_view receives) {
    using Key = std::tuple<int, int, std::uint64_t, std::uint64_t>;  // from, to, value (team), place
    Index<Key> sent, received;
    each_event(trace, [&](EventId id, const LoggedEvent& event) {
        const std::string_view name = common::operation_name(event.operation);
        const int pe = trace.pes[id.pe].pe;
        if (name == sends) sent[{pe, event.peer, event.value, event.offset}].push_back(id);
        if (name == receives) received[{event.peer, pe, event.value, event.offset}].push_back(id);
    });
    sort_by_begin(trace, sent);
    sort_by_begin(trace, received);
    for (const auto& [key, from] : sent) {
        const auto found = received.find(key);
        if (found == received.end()) continue;
        for (std::size_t i = 0; i < std::min(from.size(), found->second.size()); ++i)
            if (trace.event(from[i]).began <=
                trace.event(found->second[i]).ended + trace.clock_error_ns(from[i].pe, found->second[i].pe))
                flows.push_back({from[i], found->second[i]});
    }
}

}  // namespace

std::vector<Meeting> meetings_of(const JobTrace& trace) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Meeting> by_call;
    each_event(trace, [&](EventId id, const LoggedEvent& event) {
        if (event.kind == EventKind::collective && event.call != 0)
            by_call[{event.team, event.call}].members.push_back(id);
    });
    std::vector<Meeting> all;
    for (auto& [key, meeting] : by_call) {
        // More members than PEs: numbers begin again after finalize and another init.
        if (meeting.members.size() < 2 || meeting.members.size() > trace.pes.size()) continue;
        const auto [first, last] = std::minmax_element(
            meeting.members.begin(), meeting.members.end(),
            [&](EventId a, EventId b) { return trace.event(a).began < trace.event(b).began; });
        meeting.first = *first;
        meeting.last = *last;
        meeting.skew_ns = trace.event(*last).began - trace.event(*first).began;
        all.push_back(std::move(meeting));
    }
    return all;
}

std::vector<Flow> flows_of(const JobTrace& trace) {
    std::vector<Flow> flows = messages_of(trace);
    for (const WordFlow& flow : word_flows_of(trace))
        if (!flow.from.in_kernel && !flow.to.in_kernel) flows.push_back({flow.from.id, flow.to.id});
    return flows;
}

std::vector<Flow> messages_of(const JobTrace& trace) {
    std::vector<Flow> flows;
    add_messages(trace, flows, "send", "recv");
    add_messages(trace, flows, "mailbox post", "mailbox receive");
    return flows;
}

void each_heap_change(const PeTrace& pe, const std::function<void(const LoggedEvent&, std::uint64_t)>& body) {
    std::vector<const LoggedEvent*> events;
    for (const LoggedEvent& event : pe.log.events)
        if (event.kind == EventKind::allocate || event.kind == EventKind::free_) events.push_back(&event);
    std::stable_sort(events.begin(), events.end(),
                     [](const LoggedEvent* a, const LoggedEvent* b) { return a->ended < b->ended; });
    std::uint64_t used = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> blocks;  // bytes by place
    for (const LoggedEvent* event : events) {
        if (event->kind == EventKind::allocate) {
            blocks[event->offset] = event->bytes;
            used += event->bytes;
        } else {
            const auto found = blocks.find(event->offset);
            if (found == blocks.end()) continue;
            used -= found->second;
            blocks.erase(found);
        }
        body(*event, used);
    }
}

}  // namespace atl::cli
