#include "core/hang/cause.hpp"

#include "core/hang/causes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace atl::core {

using common::PeDoing;

namespace {

using common::HeldSeen;

/// The awaited lock as its holder noted it; null if it is not known.
const HeldSeen* held_by(const WaitGraph& graph, int waiting, int holder) {
    const auto& held = graph.of(holder).held;
    const auto found = std::find_if(held.begin(), held.end(), [&](const HeldSeen& one) {
        return one.offset == graph.of(waiting).wait.offset && !one.site.empty();
    });
    return found == held.end() ? nullptr : &*found;
}

}  // namespace

bool waits_for_lock(const common::PeDoing& one) {
    const std::string_view operation = one.wait.operation;
    return one.waits && (operation == "Lock.acquire" || operation == "set_lock" ||
                         operation == "Lock::lock" || operation == loop_of_test_lock);
}

std::string holder_text(const WaitGraph& graph, int waiting, int holder) {
    const HeldSeen* const held = held_by(graph, waiting, holder);
    return pe_text({holder}) + " holds that lock" + (held == nullptr ? "" : ", acquired at " + held->site);
}

std::string holders_text(const WaitGraph& graph) {
    std::string text;
    std::set<std::uint64_t> reported;
    for (const int waiting : graph.waiting()) {
        if (!waits_for_lock(graph.of(waiting)) || !reported.insert(graph.of(waiting).wait.offset).second)
            continue;
        for (const int holder : awaited_by(graph.doing(), waiting))
            if (const HeldSeen* held = held_by(graph, waiting, holder))
                text += "; " + pe_text({holder}) + " holds the lock that " + pe_text({waiting}) +
                        " waits for, acquired at " + held->site;
    }
    return text;
}

std::vector<int> ignoring(const WaitGraph& graph) {
    return graph.pes_that([](const common::PeDoing& one) { return !one.ignored.empty(); });
}

namespace {

Cause first_cause(const WaitGraph& graph) {
    for (const auto& rule : {differing_calls, ended, stopped, circle, absent, elsewhere, unset_words})
        if (std::optional<Cause> cause = rule(graph)) return *std::move(cause);
    return {};
}

/// Adds the exceptions that Python ignored: what they left undone may be what others wait for.
void add_ignored(Cause& cause, const WaitGraph& graph) {
    const std::vector<int> pes = ignoring(graph);
    std::map<std::string, std::vector<int>> pes_by_text;
    for (const int pe : pes) pes_by_text[graph.of(pe).ignored].push_back(pe);
    std::string text;
    for (const auto& [what, its] : pes_by_text)
        text += pe_text(its) + " went on after an exception in a callback or thread (" + what +
                "), which Python ignored; ";
    cause.sentence = text + cause.sentence;
    std::erase_if(cause.pes, [&](int pe) { return std::find(pes.begin(), pes.end(), pe) != pes.end(); });
    cause.pes.insert(cause.pes.begin(), pes.begin(), pes.end());
}

/// Adds the exceptions that some PEs handle while they wait, as in a `finally` with a barrier.
void add_handled(Cause& cause, const WaitGraph& graph) {
    std::map<std::string, std::vector<int>> pes_by_text;
    std::size_t handling = 0;
    for (const int pe : graph.pes_that([](const common::PeDoing& one) { return !one.handled.empty(); })) {
        pes_by_text[graph.of(pe).handled].push_back(pe);
        ++handling;
    }
    if (handling == graph.doing().size()) return;  // it tells the PEs not apart
    for (const auto& [what, pes] : pes_by_text)
        cause.sentence += "; " + pe_text(pes) + verb(pes, " handles ", " handle ") + what + " meanwhile";
}

}  // namespace

Cause find_cause(const std::vector<PeDoing>& doing) {
    const WaitGraph graph(doing);
    if (graph.waiting().empty()) return {};
    Cause cause = first_cause(graph);
    if (cause.sentence.empty()) return cause;
    if (cause.sentence.find("holds that lock") == std::string::npos) cause.sentence += holders_text(graph);
    add_handled(cause, graph);
    add_ignored(cause, graph);
    return cause;
}

std::string report_of(const std::vector<PeDoing>& doing, const Cause& cause, const std::string& heading,
                      const std::string& begin) {
    std::string report = cause.sentence.empty() ? "" : cause.sentence + ".\n" + begin;
    report += heading + ":\n" + common::table_of(doing, cause.pes);
    if (report.ends_with('\n')) report.pop_back();
    return report;
}

}  // namespace atl::core
