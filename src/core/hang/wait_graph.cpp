#include "core/hang/wait_graph.hpp"

#include "common/pe_ranges.hpp"
#include "core/calls/call_text.hpp"
#include "core/hang/word_updates.hpp"

#include <algorithm>
#include <set>

namespace atl::core {

using common::PeDoing;

std::string pe_text(const std::vector<int>& pes) { return "PE " + common::pe_ranges(pes); }

const char* verb(const std::vector<int>& pes, const char* one, const char* several) {
    return pes.size() == 1 ? one : several;
}

std::vector<int> awaited_by(const std::vector<PeDoing>& doing, int pe) {
    const int n_pes = static_cast<int>(doing.size());
    const common::WaitCopy& wait = doing[static_cast<std::size_t>(pe)].wait;
    std::vector<int> found;
    for (const int other : wait.missing) {
        if (other < 0) break;
        if (other < n_pes && other != pe) found.push_back(other);
    }
    // A kernel's wait lists none.
    if (found.empty() && wait.peer >= 0 && wait.peer < n_pes && wait.peer != pe) found.push_back(wait.peer);
    return found;
}

WaitGraph::WaitGraph(const std::vector<PeDoing>& doing) : doing_(doing) {
    for (int pe = 0; pe < count(); ++pe) targets_.push_back(needed_by(pe));
    waiting_ = pes_that(stays);
}

std::vector<int> WaitGraph::needed_by(int pe) const {
    std::vector<int> pes = awaited_by(doing_, pe);
    if (pes.empty() && of(pe).waits)
        if (const int sender = only_updater(doing_, pe); sender >= 0) pes = {sender};
    return pes;
}

std::vector<int> WaitGraph::waiting_for(int pe) const {
    std::vector<int> found;
    for (const int other : waiting_) {
        const std::vector<int>& needs = targets(other);
        if (std::find(needs.begin(), needs.end(), pe) != needs.end()) found.push_back(other);
    }
    return found;
}

std::string WaitGraph::call_at(int pe) const { return with_site(of(pe).wait.operation, of(pe).wait.site); }

std::string WaitGraph::waiters_text(const std::vector<int>& pes, const std::vector<int>& awaited) const {
    std::set<std::string> calls;
    for (const int pe : pes) calls.insert(call_at(pe));
    std::string text =
        pe_text(pes) + verb(pes, " waits", " wait") + (awaited.size() > 1 ? " for them in " : " for it in ");
    for (const std::string& call : calls) text += (call == *calls.begin() ? "" : " or ") + call;
    return text;
}

}  // namespace atl::core
