#include "common/board/beside_gpu.hpp"
#include "core/hang/causes.hpp"

#include <algorithm>

namespace atl::core {

namespace {

using common::CallSeen;
using common::PeDoing;
using common::PeState;

/// Returns a text such as " at solver.py:61"; ", in main at solver.c:61" for a place in a function.
std::string at(const std::string& site) {
    if (site.empty()) return {};
    return (site.find(" at ") == site.npos ? " at " : ", in ") + site;
}

/// PEs of other hosts that do not answer.
std::optional<Cause> silent(const WaitGraph& graph) {
    const auto pe = graph.awaited([](const PeDoing& one) { return one.process == common::silent_process; });
    if (!pe) return std::nullopt;
    return Cause{
        pe_text({*pe}) + " " + graph.of(*pe).text + "; " + graph.waiters_text(graph.waiting_for(*pe)), {*pe}};
}

bool is_elsewhere(const PeDoing& one) { return one.state == PeState::running && !WaitGraph::stays(one); }

/// The last collective call of a PE that has ended, as text: "; its last call was barrier".
std::string last_call(const WaitGraph& graph, int pe) {
    const auto& calls = graph.of(pe).calls;
    if (calls.empty()) return {};
    const CallSeen& last = calls.back();
    const std::string name(common::operation_name(last.operation));
    if (last.state < common::EventState::ended) return "; it is within " + name;
    if (name == "init" || last.call == 0) return {};
    return "; its last collective call was " + common::called_name(last.operation, last.arguments);
}

bool is_beside_gpu(const PeDoing& one) { return one.text.starts_with(common::beside_gpu); }

/// Returns a text such as "PE 0 is in its own code at solver.py:61".
std::string own_code_text(const WaitGraph& graph, const std::vector<int>& pes) {
    const PeDoing& one = graph.of(pes[0]);
    if (one.site == common::idle_in_pool) return pe_text(pes) + verb(pes, " is ", " are ") + one.site;
    return pe_text(pes) + (one.moves
                               ? verb(pes, " goes from wait to wait", " go from wait to wait")
                               : verb(pes, " is in its own code", " are in their own code") + at(one.site));
}

/// The same, or "the GPU of PE 0 waits in reduce, for PE 2".
std::string elsewhere_text(const WaitGraph& graph, const std::vector<int>& pes) {
    const PeDoing& one = graph.of(pes[0]);
    if (one.moves || !is_beside_gpu(one)) return own_code_text(graph, pes);
    return "the GPU of " + pe_text(pes) + " waits in " + one.text.substr(common::beside_gpu.size());
}

/// `pe` and others in the same place for which the same PEs wait.
std::vector<int> pes_beside(const WaitGraph& graph, int pe) {
    const PeDoing& one = graph.of(pe);
    if (is_beside_gpu(one)) return {pe};
    std::vector<int> pes;
    for (int other = 0; other < graph.count(); ++other)
        if (is_elsewhere(graph.of(other)) && !is_beside_gpu(graph.of(other)) &&
            graph.of(other).site == one.site && graph.of(other).moves == one.moves &&
            graph.waiting_for(other) == graph.waiting_for(pe))
            pes.push_back(other);
    return pes;
}

/// A PE that holds the lock of a file, and others that wait for it outside Atoll.
std::optional<Cause> file_lock_held(const WaitGraph& graph) {
    const auto waits_for_file = [](const PeDoing& one) { return one.file_lock_pe >= 0 && !one.waits; };
    const std::vector<int> all = graph.pes_that(waits_for_file);
    if (all.empty()) return std::nullopt;
    const PeDoing& one = graph.of(all[0]);
    const int holder = one.file_lock_pe;
    const std::vector<int> waiters = graph.pes_that([&](const PeDoing& other) {
        return waits_for_file(other) && other.file_lock_pe == holder && other.site == one.site;
    });
    const std::string file = one.file_lock.empty() ? "a file" : "the file " + one.file_lock;
    const std::string its = graph.of(holder).waits ? ", and waits in " + graph.call_at(holder)
                                                   : ", and is in its own code" + at(graph.of(holder).site);
    return Cause{pe_text({holder}) + " holds the lock of " + file + its + "; " + pe_text(waiters) +
                     verb(waiters, " waits", " wait") + " for that lock" + at(one.site),
                 {holder}};
}

}  // namespace

std::optional<Cause> ended(const WaitGraph& graph) {
    const auto pe = graph.awaited([](const PeDoing& one) { return one.state >= PeState::finalized; });
    if (!pe) return std::nullopt;
    return Cause{
        pe_text({*pe}) + " " + graph.of(*pe).text + ", and " + graph.waiters_text(graph.waiting_for(*pe)),
        {*pe}};
}

std::optional<Cause> stopped(const WaitGraph& graph) {
    const std::vector<int> pes = graph.pes_that([](const PeDoing& one) { return one.process == 'T'; });
    if (pes.empty()) return silent(graph);
    const std::vector<int> waiters = graph.waiting_for(pes[0]);
    return Cause{pe_text(pes) + verb(pes, " is stopped (", " are stopped (") + "kill -CONT " +
                     std::to_string(graph.of(pes[0]).pid) + " lets it go on)" +
                     (waiters.empty() ? "" : ", and " + graph.waiters_text(waiters)),
                 pes};
}

std::optional<Cause> absent(const WaitGraph& graph) {
    std::vector<int> pes;
    for (int pe = 0; pe < graph.count(); ++pe)
        if (graph.of(pe).state == PeState::absent && !graph.waiting_for(pe).empty()) pes.push_back(pe);
    if (pes.empty()) return std::nullopt;
    return Cause{pe_text(pes) + verb(pes, " has", " have") + " not called init, and " +
                     graph.waiters_text(graph.waiting_for(pes[0])),
                 pes};
}

std::optional<Cause> elsewhere(const WaitGraph& graph) {
    if (auto cause = file_lock_held(graph)) return cause;
    if (const auto pe = graph.awaited(is_elsewhere)) {
        const std::vector<int> pes = pes_beside(graph, *pe);
        return Cause{elsewhere_text(graph, pes) + ", and " + graph.waiters_text(graph.waiting_for(*pe), pes) +
                         (pes.size() == 1 ? last_call(graph, *pe) : ""),
                     pes};
    }
    const std::vector<int> pes = graph.pes_that(is_elsewhere);
    const auto word = std::find_if(graph.waiting().begin(), graph.waiting().end(),
                                   [&](int pe) { return graph.targets(pe).empty(); });
    if (pes.empty() || word == graph.waiting().end()) return std::nullopt;
    return Cause{
        own_code_text(graph, pes) + ", and PE " + std::to_string(*word) + " waits in " + graph.of(*word).text,
        pes};
}

}  // namespace atl::core
