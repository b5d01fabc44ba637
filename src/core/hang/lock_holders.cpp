#include "core/hang/causes.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace atl::core {

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

}  // namespace atl::core
