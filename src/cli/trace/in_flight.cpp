#include "cli/trace/in_flight.hpp"

#include "cli/trace/word_flows.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace atl::cli {

using common::EventKind;
using common::LoggedEvent;

namespace {

/// A context: the identity of its team, and its number.
using ContextKey = std::pair<std::uint32_t, std::uint32_t>;
constexpr ContextKey default_context{1, 0};  // default context of the world team

/// A PE that leaves alone, after an error, has only the event of its own.
bool ends_job(const LoggedEvent& event) {
    return event.kind == EventKind::finalize || common::operation_name(event.operation) == "finalize";
}

/// Bytes in flight of each context, by peer.
class Open {
  public:
    void begin(const LoggedEvent& flight) {
        bytes_[{flight.team, flight.call}][flight.peer] += static_cast<std::int64_t>(flight.bytes);
    }
    /// Ends the flights that a call completes, and returns their bytes.
    std::int64_t end(const LoggedEvent& call) {
        if (ends_job(call)) return take_all();
        if (releases_lock(call)) return take(default_context, -1);
        if (call.kind == EventKind::collective) return take({call.team, 0}, -1);
        return take({call.team, call.call}, call.peer);
    }

  private:
    using Peers = std::map<std::int32_t, std::int64_t>;

    static std::int64_t sum(const Peers& peers) {
        std::int64_t bytes = 0;
        for (const auto& [peer, of_peer] : peers) bytes += of_peer;
        return bytes;
    }
    /// Towards one peer, or all (-1).
    std::int64_t take(ContextKey context, std::int32_t peer) {
        const auto found = bytes_.find(context);
        if (found == bytes_.end()) return 0;
        Peers taken;
        if (peer < 0)
            taken.swap(found->second);
        else if (auto one = found->second.extract(peer))
            taken.insert(std::move(one));
        return sum(taken);
    }
    std::int64_t take_all() {
        std::int64_t bytes = 0;
        for (const auto& [context, peers] : bytes_) bytes += sum(peers);
        bytes_.clear();
        return bytes;
    }

    std::map<ContextKey, Peers> bytes_;
};

/// A call of team 0 has no context in the trace, so nothing would end its flight.
bool is_flight(const LoggedEvent& event) {
    return event.kind == EventKind::move && event.team != 0 && common::is_unfinished(event.operation);
}

bool is_completion(const LoggedEvent& event) {
    if (ends_job(event)) return true;
    if (event.kind == EventKind::collective) return common::completes_context(event.operation);
    const bool is_quiet = event.kind == EventKind::move && common::operation_name(event.operation) == "quiet";
    return is_quiet || releases_lock(event);
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
    const std::vector<const LoggedEvent*> flights = by_begin(pe, is_flight);
    if (flights.empty()) return {};
    // Bytes that begin or, negative, end their flight.
    std::vector<std::pair<std::uint64_t, std::int64_t>> changes;
    for (const LoggedEvent* flight : flights)
        changes.emplace_back(flight->began, static_cast<std::int64_t>(flight->bytes));
    Open open;
    auto next = flights.begin();
    for (const LoggedEvent* call : by_begin(pe, is_completion)) {
        while (next != flights.end() && (*next)->began < call->began) open.begin(**next++);
        if (const std::int64_t completed = open.end(*call)) changes.emplace_back(call->ended, -completed);
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
