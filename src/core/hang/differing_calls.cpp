#include "core/calls/call_text.hpp"
#include "core/hang/causes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace atl::core {

namespace {

using common::CallSeen;

const CallSeen* call_of(const WaitGraph& graph, int pe, std::uint32_t team, std::uint32_t call) {
    const auto& calls = graph.of(pe).calls;
    const auto seen = std::find_if(calls.rbegin(), calls.rend(),
                                   [&](const CallSeen& c) { return c.team == team && c.call == call; });
    return seen == calls.rend() ? nullptr : &*seen;
}

bool differ(const CallSeen& a, const CallSeen& b) {
    if (a.operation != b.operation) return true;
    const bool is_known = a.state != common::EventState::begun && b.state != common::EventState::begun;
    return is_known && std::memcmp(a.arguments, b.arguments, sizeof a.arguments) != 0;
}

/// "called sum_reduce(bytes=24, dtype=float64) at solver.py:88".
std::string called_text(const WaitGraph& graph, int pe, const CallSeen& seen) {
    const std::string name(common::operation_name(seen.operation));
    const auto& a = seen.arguments;
    const bool is_known = seen.state != common::EventState::begun;
    const CallRecord record = call_record(name.c_str(), a[0], a[1], a[2], a[3]);
    const bool waits_there =
        graph.of(pe).waits && graph.of(pe).wait.team_id == seen.team && graph.of(pe).wait.call == seen.call;
    return "called " + placed_text(is_known && is_record(record) ? call_text(record) : name,
                                   waits_there ? graph.of(pe).wait.site : "");
}

}  // namespace

/// Members of a team that made different calls with the same number.
std::optional<Cause> differing_calls(const WaitGraph& graph) {
    for (const int pe : graph.waiting()) {
        const auto& wait = graph.of(pe).wait;
        const CallSeen* mine = wait.call != 0 ? call_of(graph, pe, wait.team_id, wait.call) : nullptr;
        if (mine == nullptr) continue;
        std::vector<int> alike, others;
        for (int other = 0; other < graph.count(); ++other) {
            const CallSeen* theirs = call_of(graph, other, wait.team_id, wait.call);
            if (theirs != nullptr) (differ(*mine, *theirs) ? others : alike).push_back(other);
        }
        if (others.empty()) continue;
        if (others.size() > alike.size()) std::swap(others, alike);  // the fewer are at fault
        const CallSeen& odd = *call_of(graph, others[0], wait.team_id, wait.call);
        const CallSeen& usual = *call_of(graph, alike[0], wait.team_id, wait.call);
        const std::string team = wait.team == 0 ? "the world team" : "team " + std::to_string(wait.team);
        return Cause{pe_text(others) + " " + called_text(graph, others[0], odd) + " as call " +
                         std::to_string(wait.call) + " of " + team + ", where " + pe_text(alike) + " " +
                         called_text(graph, alike[0], usual) + std::string(calls_differ),
                     others};
    }
    return std::nullopt;
}

}  // namespace atl::core
