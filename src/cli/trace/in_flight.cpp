#include "cli/trace/in_flight.hpp"

#include <algorithm>
#include <utility>

namespace atl::cli {

using common::EventKind;
using common::LoggedEvent;

namespace {

bool is_completion(const LoggedEvent& event) {
    if (event.kind == EventKind::collective) return common::completes_context(event.operation);
    return event.kind == EventKind::move && common::operation_name(event.operation) == "quiet";
}

/// True if `call` ends the flight of a call before it. A collective completes its team's default context.
bool completes(const LoggedEvent& call, const LoggedEvent& flight) {
    const std::uint32_t context = call.kind == EventKind::collective ? 0 : call.call;
    return call.team == flight.team && context == flight.call && (call.peer < 0 || call.peer == flight.peer);
}

std::vector<const LoggedEvent*> by_begin(const PeTrace& pe, bool (*is_wanted)(const LoggedEvent&)) {
    std::vector<const LoggedEvent*> found;
    for (const LoggedEvent& event : pe.log.events)
        if (is_wanted(event)) found.push_back(&event);
    std::stable_sort(found.begin(), found.end(),
                     [](const LoggedEvent* a, const LoggedEvent* b) { return a->began < b->began; });
    return found;
}

}  // namespace

std::vector<BytesInFlight> bytes_in_flight(const PeTrace& pe) {
    const std::vector<const LoggedEvent*> flights = by_begin(pe, [](const LoggedEvent& event) {
        return event.kind == EventKind::move && common::is_unfinished(event.operation);
    });
    if (flights.empty()) return {};
    // Bytes that begin or, negative, end their flight.
    std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
    for (const LoggedEvent* flight : flights)
        changes.emplace_back(flight->began, static_cast<std::int64_t>(flight->bytes));
    std::vector<const LoggedEvent*> open;
    auto next = flights.begin();
    for (const LoggedEvent* call : by_begin(pe, is_completion)) {
        while (next != flights.end() && (*next)->began < call->began) open.push_back(*next++);
        std::int64_t completed = 0;
        std::erase_if(open, [&](const LoggedEvent* flight) {
            const bool is_completed = completes(*call, *flight);
            if (is_completed) completed += static_cast<std::int64_t>(flight->bytes);
            return is_completed;
        });
        if (completed != 0) changes.emplace_back(call->ended, -completed);
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<BytesInFlight> steps;
    std::int64_t bytes = 0;
    for (const auto& [time_ns, change] : changes)
        steps.push_back({time_ns, static_cast<std::uint64_t>(bytes += change)});
    return steps;
}

}  // namespace atl::cli
