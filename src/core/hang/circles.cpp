#include "core/calls/call_text.hpp"
#include "core/hang/causes.hpp"
#include "core/hang/known_updates.hpp"
#include "core/hang/word_updates.hpp"

#include <algorithm>
#include <utility>

namespace atl::core {

namespace {

using common::PeDoing;

std::vector<int> path_to(int pe, int start, const std::vector<int>& from) {
    std::vector<int> path{pe};
    while (path.back() != start) path.push_back(from[static_cast<std::size_t>(path.back())]);
    std::reverse(path.begin(), path.end());
    return path;
}

/// The shortest way from `start` back to it, by waits for PEs that wait themselves; empty without one.
std::vector<int> path_back_to(const WaitGraph& graph, int start) {
    std::vector<int> from(graph.doing().size(), -1), queue{start};
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const int pe = queue[i];
        for (const int next : graph.targets(pe)) {
            if (next == start) return path_to(pe, start, from);
            if (!WaitGraph::stays(graph.of(next)) || from[static_cast<std::size_t>(next)] >= 0) continue;
            from[static_cast<std::size_t>(next)] = pe;
            queue.push_back(next);
        }
    }
    return {};
}

/// The shortest circle of PEs that wait for one another; may be empty.
std::vector<int> find_circle(const WaitGraph& graph) {
    std::vector<int> best;
    constexpr std::size_t shortest = 2;
    for (const int start : graph.waiting()) {
        std::vector<int> path = path_back_to(graph, start);
        if (!path.empty() && (best.empty() || path.size() < best.size())) best = std::move(path);
        if (best.size() == shortest) break;
    }
    return best;
}

/// Returns a text such as " (the atoll.Lock allocated at x.py:4)", " (flag: found 4, waiting for >= 5, PE 1
/// last set it to 4)".
std::string details_of(const WaitGraph& graph, int pe) {
    const PeDoing& one = graph.of(pe);
    std::string text = one.wait.name;
    if (awaited_by(graph.doing(), pe).empty() && one.wait.group[0] == '\0') {
        text += (text.empty() ? "" : ": ") + common::value_text(one.wait);
        if (const WordUpdates updates = updates_of_word_of(graph.doing(), pe); !updates.text.empty())
            text += ", " + updates.text;
    }
    return text.empty() ? text : " (" + text + ")";
}

/// A circle of a PE in a collective call and another one that waits for it alone. At fault is the one
/// that went on to the collective call.
std::optional<Cause> half_collective(const WaitGraph& graph, const std::vector<int>& path) {
    const auto in_collective = [&](int pe) { return graph.of(pe).wait.call != 0; };
    if (path.size() != 2 || in_collective(path[0]) == in_collective(path[1])) return std::nullopt;
    const int first = in_collective(path[0]) ? path[0] : path[1];
    const int other = first == path[0] ? path[1] : path[0];
    if (auto cause = left_out_message(graph, first, other)) return cause;
    // A PE waits for the lock's holder or for the PE before it in the queue. A PE in a collective call has
    // left the queue.
    return Cause{pe_text({first}) + " waits in " + graph.call_at(first) + details_of(graph, first) + " for " +
                     pe_text({other}) + ", which waits for it in " + graph.call_at(other) +
                     details_of(graph, other) +
                     (waits_for_lock(graph.of(other)) ? "; " + holder_text(graph, other, first) : ""),
                 {first, other}};
}

/// A part of a report, such as " of team 1", for circles of calls of several teams; else empty.
std::string team_text(const WaitGraph& graph, int pe, const std::vector<int>& path) {
    const auto& mine = graph.of(pe).wait;
    const bool differ = std::any_of(path.begin(), path.end(), [&](int other) {
        return graph.of(other).wait.call != 0 && graph.of(other).wait.team != mine.team;
    });
    if (!differ || mine.call == 0) return {};  // a request's name has its team
    return mine.team == 0 && mine.group[0] == '\0' ? " of the world team" : common::team_text_of(mine);
}

/// The PEs that wait in the same call as `pe`.
std::vector<int> waiters_beside(const WaitGraph& graph, int pe) {
    const auto& call = graph.of(pe).wait;
    std::vector<int> waiters;
    for (const int other : graph.waiting())
        if (graph.of(other).wait.team_id == call.team_id && graph.of(other).wait.call == call.call)
            waiters.push_back(other);
    return waiters;
}

/// The PEs that wait in calls that lack `pe` alone.
std::vector<int> lacking_only(const WaitGraph& graph, int pe) {
    std::vector<int> waiters;
    for (const int other : graph.waiting())
        if (graph.of(other).wait.call != 0 && graph.targets(other) == std::vector<int>{pe})
            waiters.push_back(other);
    return waiters;
}

/// `absent`, if others wait in a call that lacks it alone. It waits itself in a call of another team, for a
/// PE with fewer such waiters.
std::optional<Cause> left_out_by_most(const WaitGraph& graph, int absent, const std::vector<int>& path) {
    std::vector<int> waiters = lacking_only(graph, absent);
    const std::vector<int>& its = graph.targets(absent);
    if (its.size() != 1 || waiters.size() <= lacking_only(graph, its[0]).size()) return std::nullopt;
    const common::WaitCopy& call = graph.of(waiters[0]).wait;
    const bool is_one_call = std::all_of(waiters.begin(), waiters.end(), [&](int pe) {
        return graph.of(pe).wait.team_id == call.team_id && graph.of(pe).wait.call == call.call;
    });
    if (!is_one_call || call.team_id == graph.of(absent).wait.team_id) return std::nullopt;
    const auto text = [&](int pe) {
        return with_site(graph.of(pe).wait.operation + team_text(graph, pe, path), graph.of(pe).wait.site);
    };
    return Cause{pe_text({absent}) + " waits in " + text(absent) + ", and " + pe_text(waiters) +
                     verb(waiters, " waits", " wait") + " for it in " + text(waiters[0]),
                 {absent}};
}

/// A circle of two PEs in calls of different teams, of which one call lacks the other PE alone. That one
/// has left the call out.
std::optional<Cause> left_out(const WaitGraph& graph, const std::vector<int>& path) {
    if (path.size() != 2 || graph.of(path[0]).wait.call == 0 || graph.of(path[1]).wait.call == 0)
        return std::nullopt;
    const bool first_lacks_one = graph.targets(path[0]).size() == 1;
    if (first_lacks_one == (graph.targets(path[1]).size() == 1)) return std::nullopt;
    const int absent = first_lacks_one ? path[1] : path[0], other = first_lacks_one ? path[0] : path[1];
    if (auto cause = left_out_by_most(graph, other, {path[0], path[1]})) return cause;
    const std::vector<int> waiters = waiters_beside(graph, other);
    const auto text = [&](int pe) {
        return with_site(graph.of(pe).wait.operation + team_text(graph, pe, path), graph.of(pe).wait.site);
    };
    return Cause{pe_text({absent}) + " waits in " + text(absent) + ", and " + pe_text(waiters) +
                     verb(waiters, " waits", " wait") + " for it in " + text(other),
                 {absent}};
}

/// True for a wait for one word of the PE itself, for a value or a greater one. Other comparisons order no
/// steps.
bool counts_steps(const common::WaitCopy& wait) {
    return wait.word_bytes != 0 && wait.word_pe < 0 &&
           wait.compare == static_cast<std::uint32_t>(Compare::ge);
}

Cause left_out_cause(const WaitGraph& graph, int first, int other, const std::string& why) {
    return {pe_text({first}) + " left out an update of " + pe_text({other}) + ": " + pe_text({other}) +
                " waits in " + graph.call_at(other) + details_of(graph, other) + why + ", and " +
                pe_text({first}) + " waits for it in " + graph.call_at(first) + details_of(graph, first),
            {first, other}};
}

/// Two PEs that set each other's words to the number of the step, and then wait for it. The one that waits
/// for a greater number than it has set has left out an update. If both wait for the next update, the one
/// that has given fewer than it has got is at fault. Credits for the places of a queue are such updates.
std::optional<Cause> left_out_update(const WaitGraph& graph, const std::vector<int>& path) {
    if (path.size() != 2) return std::nullopt;
    const auto wait = [&](int i) -> const common::WaitCopy& { return graph.of(path[std::size_t(i)]).wait; };
    if (!counts_steps(wait(0)) || !counts_steps(wait(1)) || wait(0).compare != wait(1).compare)
        return std::nullopt;
    const auto found = [&](int i) { return static_cast<std::int64_t>(wait(i).found); };
    const auto expected = [&](int i) { return static_cast<std::int64_t>(wait(i).expected); };
    const auto missing = [&](int i) { return expected(i) - found(1 - i); };
    const auto is_for_next = [&](int i) { return expected(i) == found(i) + 1; };
    int late = -1;
    if ((missing(0) == 0) != (missing(1) == 0) && std::min(missing(0), missing(1)) >= 0)
        late = missing(0) > 0 ? 0 : 1;
    else if (is_for_next(0) && is_for_next(1) && found(0) != found(1) && std::min(found(0), found(1)) > 0)
        late = found(0) > found(1) ? 0 : 1;
    if (late < 0) return std::nullopt;
    return left_out_cause(graph, path[std::size_t(late)], path[std::size_t(1 - late)], "");
}

/// The last update by `from` of the word for which `to` waits; nothing if it would not end the wait by
/// itself.
std::optional<common::UpdateSeen> ending_update(const WaitGraph& graph, int from, int to) {
    if (graph.of(to).wait.word_bytes == 0 || graph.of(to).wait.word_pe >= 0) return std::nullopt;
    const Known known(graph.doing(), to);
    if (known.has_lost()) return std::nullopt;
    for (const common::UpdateSeen& seen : known.of(from))
        if (seen.pe == to && seen.offset == known.wait().offset && seen.kind == common::UpdateKind::set &&
            seen.value != known.wait().found && known.would_end(seen))
            return seen;
    return std::nullopt;
}

/// Two PEs that set each other's words to one value, and set their own back. The one that has set fewer times
/// than it got has set its word back too late, and so lost an update.
std::optional<Cause> lost_update(const WaitGraph& graph, const std::vector<int>& path) {
    if (path.size() != 2) return std::nullopt;
    const auto first = ending_update(graph, path[0], path[1]),
               second = ending_update(graph, path[1], path[0]);
    if (!first || !second || first->count == second->count) return std::nullopt;
    const bool lost_second = first->count < second->count;
    const int late = path[lost_second ? 0 : 1], other = path[lost_second ? 1 : 0];
    const common::UpdateSeen &lost = lost_second ? *second : *first, &answer = lost_second ? *first : *second;
    const common::WaitCopy& its = graph.of(late).wait;
    const std::string name = its.name[0] == '\0' ? "" : std::string(", ") + its.name + ",";
    const std::string line = lost.site.text;
    return Cause{pe_text({late}) + " has set its awaited word" + name + " back to " + number_text(its.found) +
                     " after " + pe_text({other}) + " had set it to " + number_text(lost.value) +
                     (line.empty() ? "" : " at " + line) + ", " + times_text(lost.count) + ", of which " +
                     pe_text({late}) + " has answered " + std::to_string(answer.count) + "; " +
                     pe_text({late}) + " waits in " + graph.call_at(late) + ", and " + pe_text({other}) +
                     " waits for it in " + graph.call_at(other),
                 {late, other}};
}

/// The PEs that have last set another element of the array of `pe` to its awaited value. A count of additions
/// is a value, too.
std::vector<int> updaters_beside(const WaitGraph& graph, int pe) {
    const Known known(graph.doing(), pe);
    const auto is_it = [&](const common::UpdateSeen& seen) {
        const std::uint64_t value = seen.kind == common::UpdateKind::add ? seen.count : seen.value;
        return seen.pe == pe && seen.offset != known.wait().offset && seen.kind != common::UpdateKind::put &&
               value == known.wait().expected && known.is_in_block(seen.offset);
    };
    std::vector<int> pes;
    for (int other = 0; other < graph.count(); ++other) {
        const std::vector<common::UpdateSeen> all = known.all_of(other);
        if (other != pe && std::any_of(all.begin(), all.end(), is_it)) pes.push_back(other);
    }
    return pes;
}

/// Two PEs that wait for each other's words, of which one waits for an element of an array. Other PEs have
/// set their elements to the awaited value, and the second PE has not.
std::optional<Cause> left_out_element(const WaitGraph& graph, const std::vector<int>& path) {
    if (path.size() != 2) return std::nullopt;
    for (const int i : {0, 1}) {
        const int other = path[std::size_t(i)], first = path[std::size_t(1 - i)];
        if (!counts_steps(graph.of(other).wait) || !counts_steps(graph.of(first).wait) ||
            !updaters_beside(graph, first).empty())
            continue;
        std::vector<int> pes = updaters_beside(graph, other);
        std::erase(pes, first);
        if (pes.empty()) continue;
        return left_out_cause(graph, first, other,
                              ", where " + pe_text(pes) + " set " +
                                  verb(pes, "another element", "other elements") + " of that array to " +
                                  number_text(graph.of(other).wait.expected));
    }
    return std::nullopt;
}

/// A circle of PEs that wait for their copies of one word, each for another value, as in a ring. The PE that
/// has to set the least value is at fault: the others have come further.
std::optional<Cause> behind(const WaitGraph& graph, const std::vector<int>& path) {
    const common::WaitCopy& any = graph.of(path[0]).wait;
    std::size_t least = 0;
    bool differ = false;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const common::WaitCopy& wait = graph.of(path[i]).wait;
        if (!counts_steps(wait) || wait.offset != any.offset) return std::nullopt;
        differ = differ || wait.expected != any.expected;
        if (static_cast<std::int64_t>(wait.expected) <
            static_cast<std::int64_t>(graph.of(path[least]).wait.expected))
            least = i;
    }
    const auto n_least = std::count_if(path.begin(), path.end(), [&](int pe) {
        return graph.of(pe).wait.expected == graph.of(path[least]).wait.expected;
    });
    if (!differ || n_least != 1) return std::nullopt;
    const int first = path[least], late = path[(least + 1) % path.size()];
    std::vector<int> others;
    for (const int pe : path)
        if (pe != first) others.push_back(pe);
    std::sort(others.begin(), others.end());
    return Cause{pe_text({late}) + " is behind; " + pe_text({first}) + " waits for it in " +
                     graph.call_at(first) + details_of(graph, first) + ", and " + pe_text(others) +
                     verb(others, " waits", " wait") + " for later values",
                 {late}};
}

/// Returns a text such as "PE 0,1 wait for each other: PE 0 for PE 1 in recv at x.py:5, …".
std::string circle_text(const WaitGraph& graph, const std::vector<int>& path) {
    std::vector<int> sorted = path;
    std::sort(sorted.begin(), sorted.end());
    std::string text = pe_text(sorted) + " wait for each other:";
    const std::size_t shown = std::min<std::size_t>(path.size(), 4);
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& wait = graph.of(path[i]).wait;
        text += std::string(i == 0 ? " " : ", ") + "PE " + std::to_string(path[i]) + " for PE " +
                std::to_string(path[(i + 1) % path.size()]) + " in " +
                with_site(wait.operation + team_text(graph, path[i], path), wait.site) +
                details_of(graph, path[i]);
    }
    return text + (shown < path.size() ? ", …" : "");
}

}  // namespace

std::optional<Cause> circle(const WaitGraph& graph) {
    const std::vector<int> path = find_circle(graph);
    if (path.empty()) return std::nullopt;
    if (auto cause = other_tag(graph, path)) return cause;
    if (auto cause = half_collective(graph, path)) return cause;
    if (auto cause = left_out_group(graph, path)) return cause;
    if (auto cause = left_out(graph, path)) return cause;
    if (auto cause = left_out_update(graph, path)) return cause;
    if (auto cause = lost_update(graph, path)) return cause;
    if (auto cause = behind(graph, path)) return cause;
    if (auto cause = left_out_element(graph, path)) return cause;
    if (auto cause = left_out_of_circle(graph, path)) return cause;
    const std::string text = circle_text(graph, path);
    if (auto cause = unreceived_message(graph, path, text)) return cause;
    return Cause{text, path};
}

}  // namespace atl::core
