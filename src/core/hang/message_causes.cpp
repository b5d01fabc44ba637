#include "core/calls/call_text.hpp"
#include "core/hang/causes.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace atl::core {

namespace {

using common::WaitCopy;

constexpr std::string_view new_group = "new_group";

/// The two sides of a message, as programs call them.
struct Sides {
    std::string_view waits;
    const char* lacks;  ///< the other side's call
    bool sends;
};
constexpr Sides all_sides[] = {
    {"send", "recv", true},
    {"recv", "send", false},
    {"mailbox post", "receive", true},
    {"mailbox receive", "post", false},
};

const Sides* sides_of(const WaitCopy& wait) {
    const auto it = std::find_if(std::begin(all_sides), std::end(all_sides),
                                 [&](const Sides& one) { return one.waits == wait.operation; });
    return it == std::end(all_sides) ? nullptr : it;
}

std::string one_text(int pe) { return pe_text({pe}); }

bool has(const std::vector<int>& pes, int pe) { return std::find(pes.begin(), pes.end(), pe) != pes.end(); }

/// Returns a text such as " (4 bytes by tag 200)", what a group tells of a wait; empty without it.
std::string group_details(const WaitCopy& wait) {
    const bool is_known = wait.group[0] != '\0' && wait.name[0] != '\0';
    return is_known ? std::string(" (") + wait.name + ")" : std::string();
}

/// Returns a text such as "recv at x.py:9 (40 bytes by tag 0)".
std::string call_text_of(const WaitGraph& graph, int pe) {
    return graph.call_at(pe) + group_details(graph.of(pe).wait);
}

/// Returns a text such as "1024 bytes of PE 2 for PE 3 are not received, while PE 3 waits for PE 4 in …".
std::string unreceived_text(const WaitGraph& graph, int pe) {
    const common::OtherMessage& other = graph.of(pe).wait.other;
    return std::to_string(other.bytes) + " bytes of " + one_text(other.from) + " for " + one_text(pe) +
           " are not received, while " + one_text(pe) + " waits for " + pe_text(graph.targets(pe)) + " in " +
           graph.call_at(pe);
}

/// True if a message of another PE than the awaited one has come to `pe`.
bool has_other(const WaitGraph& graph, int pe) {
    const int from = graph.of(pe).wait.other.from;
    return WaitGraph::stays(graph.of(pe)) && from >= 0 && !has(graph.targets(pe), from);
}

/// The number of a new group: PyTorch counts them. Nothing for other names.
std::optional<int> number_of_group(const WaitCopy& wait) {
    const std::string_view name = wait.group;
    if (wait.operation != new_group || name.empty() || name.find_first_not_of("0123456789") != name.npos)
        return std::nullopt;
    return wait.team;
}

/// Returns a description of the call, such as "new_group 2 at x.py:27 (ranks 2,3)".
std::string group_call_text(const WaitGraph& graph, int pe, int number) {
    const WaitCopy& wait = graph.of(pe).wait;
    return with_site(std::string(new_group) + " " + std::to_string(number), wait.site) + group_details(wait);
}

}  // namespace

std::optional<Cause> other_tag(const WaitGraph& graph, const std::vector<int>& circle) {
    for (const int pe : circle) {
        const WaitCopy& wait = graph.of(pe).wait;
        const int from = wait.other.from;
        if (from < 0 || graph.targets(pe) != std::vector{from}) continue;
        std::string text = one_text(from) + " has sent " + std::to_string(wait.other.bytes) +
                           " bytes by tag " + std::to_string(wait.other.tag) + ", where " + one_text(pe) +
                           " waits for tag " + std::to_string(wait.tag) + " in " + graph.call_at(pe);
        if (has(graph.targets(from), pe))
            text += ", and " + one_text(from) + " waits for it in " + call_text_of(graph, from);
        return Cause{text, {from, pe}};
    }
    return std::nullopt;
}

std::optional<Cause> left_out_message(const WaitGraph& graph, int in_collective, int waiting) {
    const WaitCopy& wait = graph.of(waiting).wait;
    const Sides* const sides = sides_of(wait);
    const bool is_group = wait.operation == new_group;
    if (sides == nullptr && !is_group) return std::nullopt;
    std::string text =
        one_text(in_collective) + " is in " + call_text_of(graph, in_collective) + " without a ";
    if (is_group)
        text += std::string(new_group) + (wait.name[0] != '\0' ? std::string(" of ") + wait.name : "") +
                ", for which " + one_text(waiting) + " waits in " + graph.call_at(waiting);
    else if (sides->sends)
        text += std::string(sides->lacks) + " of " + one_text(waiting) + "'s message, for which " +
                one_text(waiting) + " waits in " + call_text_of(graph, waiting);
    else
        text += std::string(sides->lacks) + " to " + one_text(waiting) + ", which waits for it in " +
                call_text_of(graph, waiting);
    if (has_other(graph, waiting)) text += "; " + unreceived_text(graph, waiting);
    return Cause{text, {in_collective, waiting}};
}

std::optional<Cause> left_out_group(const WaitGraph& graph, const std::vector<int>& circle) {
    if (circle.size() != 2) return std::nullopt;
    const std::optional<int> first = number_of_group(graph.of(circle[0]).wait);
    const std::optional<int> second = number_of_group(graph.of(circle[1]).wait);
    if (!first || !second || *first == *second ||
        std::strcmp(graph.of(circle[0]).wait.name, graph.of(circle[1]).wait.name) != 0)
        return std::nullopt;
    const bool is_first = *first < *second;
    const int late = circle[is_first ? 0 : 1], other = circle[is_first ? 1 : 0];
    const int fewer = std::min(*first, *second), more = std::max(*first, *second);
    const int lacking = more - fewer;
    return Cause{one_text(late) + " has left out " +
                     (lacking == 1 ? "a new_group" : std::to_string(lacking) + " calls of new_group") +
                     ": it is in " + group_call_text(graph, late, fewer) + ", where " + one_text(other) +
                     " is in " + group_call_text(graph, other, more) +
                     "; every rank must call new_group for each group, also for those of others",
                 {late}};
}

namespace {

/// A member of the circle that has sent a message to another PE than the waiting one. It is in another part
/// of the program by then.
std::optional<Cause> misdirected(const WaitGraph& graph, const std::vector<int>& circle,
                                 const std::string& others) {
    std::optional<Cause> found;
    for (std::size_t i = 0; i < circle.size(); ++i) {
        const int waiting = circle[i], from = circle[(i + 1) % circle.size()];
        const WaitCopy& wait = graph.of(waiting).wait;
        const Sides* const sides = sides_of(wait);
        if (sides == nullptr || sides->sends || std::strcmp(wait.site, graph.of(from).wait.site) == 0)
            continue;
        for (const int to : graph.waiting()) {
            const common::OtherMessage& other = graph.of(to).wait.other;
            if (to == waiting || other.from != from || !has_other(graph, to)) continue;
            if (found) return std::nullopt;  // the facts do not decide
            found = Cause{one_text(from) + " has sent " + std::to_string(other.bytes) + " bytes to " +
                              one_text(to) + ", which waits for " + pe_text(graph.targets(to)) + " in " +
                              graph.call_at(to) + ", and " + one_text(waiting) + " waits for " +
                              one_text(from) + " in " + graph.call_at(waiting) + "; " + others,
                          {from, waiting}};
        }
    }
    return found;
}

/// A member of a circle of sends, for whose message a PE outside the circle waits. It sends to another PE.
std::optional<Cause> sends_elsewhere(const WaitGraph& graph, const std::vector<int>& circle,
                                     const std::string& others) {
    const auto sends = [&](int pe) {
        const Sides* const sides = sides_of(graph.of(pe).wait);
        return sides != nullptr && sides->sends;
    };
    if (!std::all_of(circle.begin(), circle.end(), sends)) return std::nullopt;
    std::optional<Cause> found;
    for (const int waiting : graph.waiting()) {
        const Sides* const sides = sides_of(graph.of(waiting).wait);
        const std::vector<int>& from = graph.targets(waiting);
        if (has(circle, waiting) || sides == nullptr || sides->sends || from.size() != 1 ||
            !has(circle, from[0]))
            continue;
        if (found && found->pes[0] != from[0]) return std::nullopt;  // the facts do not decide
        found = Cause{one_text(from[0]) + " is in " + call_text_of(graph, from[0]) + " for " +
                          pe_text(graph.targets(from[0])) + ", where " + one_text(waiting) +
                          " waits for it in " + call_text_of(graph, waiting) + "; " + others,
                      {from[0], waiting}};
    }
    return found;
}

}  // namespace

std::optional<Cause> unreceived_message(const WaitGraph& graph, const std::vector<int>& circle,
                                        const std::string& others) {
    if (auto cause = sends_elsewhere(graph, circle, others)) return cause;
    if (auto cause = misdirected(graph, circle, others)) return cause;
    std::vector<int> pes;
    for (const int pe : circle)
        if (has_other(graph, pe)) pes.push_back(pe);
    if (pes.empty()) return std::nullopt;
    // One unreceived message is the exception. Several may be those of a later step.
    if (pes.size() > 1) return Cause{others + "; " + unreceived_text(graph, pes[0]), circle};
    return Cause{unreceived_text(graph, pes[0]) + "; " + others, {pes[0], graph.of(pes[0]).wait.other.from}};
}

}  // namespace atl::core
