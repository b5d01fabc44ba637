#include "core/hang/cause.hpp"

#include "core/hang/causes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace atl::core {

using common::PeDoing;

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

}  // namespace

Cause find_cause(const std::vector<PeDoing>& doing) {
    const WaitGraph graph(doing);
    if (graph.waiting().empty()) return {};
    Cause cause = first_cause(graph);
    if (cause.sentence.empty()) return cause;
    if (cause.sentence.find("holds that lock") == std::string::npos) cause.sentence += holders_text(graph);
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
