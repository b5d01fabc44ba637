#include "core/calls/call_text.hpp"
#include "core/hang/causes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
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

/// Returns a text such as "called sum_reduce(bytes=24, dtype=float64) at solver.py:88".
std::string called_text(const WaitGraph& graph, int pe, const CallSeen& seen) {
    const std::string name(common::operation_name(seen.operation));
    const auto& a = seen.arguments;
    const bool is_known = seen.state != common::EventState::begun;
    const CallRecord record = call_record(name.c_str(), a[0], a[1], a[2], a[3]);
    const bool waits_there =
        graph.of(pe).waits && graph.of(pe).wait.team_id == seen.team && graph.of(pe).wait.call == seen.call;
    return "called " + with_site(is_known && is_record(record) ? call_text(record) : name,
                                 waits_there ? graph.of(pe).wait.site : "");
}

/// PEs that made the same call.
struct CallGroup {
    const CallSeen* call;
    std::vector<int> pes;
};

/// The PEs that made call `call` of a team, by what they called, the largest group last. PEs with unknown
/// arguments join the first group of their operation.
std::vector<CallGroup> groups_of(const WaitGraph& graph, std::uint32_t team, std::uint32_t call) {
    std::vector<CallGroup> groups;
    for (const bool is_begun : {false, true}) {
        for (int pe = 0; pe < graph.count(); ++pe) {
            const CallSeen* const its = call_of(graph, pe, team, call);
            if (its == nullptr || (its->state == common::EventState::begun) != is_begun) continue;
            const auto group = std::find_if(groups.begin(), groups.end(),
                                            [&](const CallGroup& one) { return !differ(*one.call, *its); });
            if (group == groups.end())
                groups.push_back({its, {pe}});
            else
                group->pes.push_back(pe);
        }
    }
    for (CallGroup& one : groups) std::sort(one.pes.begin(), one.pes.end());
    // If groups have one size, that with the lowest PE is taken as usual.
    std::sort(groups.begin(), groups.end(), [](const CallGroup& a, const CallGroup& b) {
        return std::pair(a.pes.size(), -a.pes[0]) < std::pair(b.pes.size(), -b.pes[0]);
    });
    return groups;
}

std::string calls_text(const WaitGraph& graph, const std::vector<CallGroup>& groups,
                       const common::WaitCopy& wait) {
    const std::string team = wait.team == 0 ? "the world team" : "team " + std::to_string(wait.team);
    std::string text;
    for (const CallGroup& one : groups) {
        const bool is_first = text.empty(), is_usual = &one == &groups.back();
        text += (is_usual   ? ", where "
                 : is_first ? ""
                            : ", ") +
                pe_text(one.pes) + " " + called_text(graph, one.pes[0], *one.call) +
                (is_first ? " as call " + std::to_string(wait.call) + " of " + team : "");
    }
    return text + std::string(calls_differ);
}

}  // namespace

/// Members of a team that made different calls with the same number.
std::optional<Cause> differing_calls(const WaitGraph& graph) {
    std::vector<CallGroup> first;
    const common::WaitCopy* earliest = nullptr;
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;  // team and call
    for (const int pe : graph.waiting()) {
        const auto& wait = graph.of(pe).wait;
        if (wait.call == 0 || !seen.insert({wait.team_id, wait.call}).second ||
            (earliest != nullptr && wait.call >= earliest->call))
            continue;
        std::vector<CallGroup> groups = groups_of(graph, wait.team_id, wait.call);
        if (groups.size() < 2) continue;
        first = std::move(groups);
        earliest = &wait;
    }
    if (earliest == nullptr) return std::nullopt;
    std::vector<int> others;
    for (auto one = first.begin(); one + 1 != first.end(); ++one)
        others.insert(others.end(), one->pes.begin(), one->pes.end());
    return Cause{calls_text(graph, first, *earliest), others};
}

}  // namespace atl::core
