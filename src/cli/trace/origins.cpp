#include "cli/trace/origins.hpp"

#include <algorithm>

namespace atl::cli {

namespace {
/// Longer chains end at the PE that they have reached: PEs that wait in a circle have no origin.
constexpr int longest_chain = 64;
}  // namespace

Origins::Origins(const JobTrace& trace, const std::vector<Flow>& flows) : trace_(trace) {
    for (const Flow& flow : flows) {
        const common::LoggedEvent &from = trace.event(flow.from), &to = trace.event(flow.to);
        if (flow.from.pe != flow.to.pe && from.began > to.began)
            waits_[thread_of(flow.to)].push_back({to.began, from.began, thread_of(flow.from)});
    }
    for (auto& [thread, waits] : waits_)
        std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) { return a.began < b.began; });
}

std::vector<Origins::Part> Origins::of(EventId late, std::uint64_t began, std::uint64_t ended) const {
    std::vector<Part> parts;
    follow(thread_of(late), began, ended, 0, parts);
    return parts;
}

void Origins::follow(Thread thread, std::uint64_t began, std::uint64_t ended, int depth,
                     std::vector<Part>& parts) const {
    const int pe = trace_.pes[thread.first].pe;
    const auto found = waits_.find(thread);
    if (found == waits_.end() || depth == longest_chain) return parts.push_back({pe, began, ended});
    const std::vector<Wait>& waits = found->second;
    auto next = std::lower_bound(waits.begin(), waits.end(), began,
                                 [](const Wait& wait, std::uint64_t moment) { return wait.began < moment; });
    // The waits of a thread follow each other, so at most the one before may reach into the time.
    if (next != waits.begin() && std::prev(next)->ended > began) --next;
    for (; next != waits.end() && next->began < ended && began < ended; ++next) {
        const std::uint64_t from = std::max(began, next->began), to = std::min(ended, next->ended);
        if (to <= from) continue;
        if (from > began) parts.push_back({pe, began, from});
        follow(next->from, from, to, depth + 1, parts);
        began = to;
    }
    if (began < ended) parts.push_back({pe, began, ended});
}

}  // namespace atl::cli
