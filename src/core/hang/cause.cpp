#include "core/hang/cause.hpp"

#include "core/hang/causes.hpp"

#include <utility>

namespace atl::core {

using common::PeDoing;

Cause find_cause(const std::vector<PeDoing>& doing) {
    const WaitGraph graph(doing);
    if (graph.waiting().empty()) return {};
    for (const auto& rule : {differing_calls, ended, stopped, circle, absent, elsewhere, unset_words})
        if (std::optional<Cause> cause = rule(graph)) return *std::move(cause);
    return {};
}

std::string report_of(const std::vector<PeDoing>& doing, const std::string& heading,
                      const std::string& begin) {
    const Cause cause = find_cause(doing);
    std::string report = cause.sentence.empty() ? "" : cause.sentence + ".\n" + begin;
    report += heading + ":\n" + common::table_of(doing, cause.pes);
    if (report.ends_with('\n')) report.pop_back();
    return report;
}

}  // namespace atl::core
