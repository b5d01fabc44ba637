#include "cli/trace/report.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "common/recorder/statistics.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

constexpr std::size_t most_lines = 8;  ///< lines of each part

/// Returns a text such as "1 call", "3 calls".
std::string calls_text(std::uint64_t calls) {
    return std::to_string(calls) + (calls == 1 ? " call" : " calls");
}

/// Lines sorted by a weight, the heaviest first.
class Ranking {
  public:
    void add(std::uint64_t weight, std::string line) { lines_.emplace_back(weight, std::move(line)); }
    std::string text() {
        std::stable_sort(lines_.begin(), lines_.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        std::string all;
        for (std::size_t i = 0; i < std::min(lines_.size(), most_lines); ++i) all += lines_[i].second + "\n";
        return all + more_text(lines_.size(), most_lines);
    }

  private:
    std::vector<std::pair<std::uint64_t, std::string>> lines_;
};

/// The share of each PE's time that is outside of calls.
std::string balance_text(const Summary& summary) {
    std::string text;
    for (const PeTimes& one : summary.times) {
        const double all = static_cast<double>(std::max<std::uint64_t>(one.all_ns, 1));
        const auto percent = [&](std::uint64_t ns) { return 100 * static_cast<double>(ns) / all; };
        char line[160];
        std::snprintf(line, sizeof line, "  PE %d: own code %.0f %%, waiting %.0f %%, moving data %.0f %%\n",
                      one.pe, 100 - percent(one.within_ns), percent(one.waiting_ns),
                      percent(one.moving_ns()));
        text += line;
    }
    return text;
}

/// For each PE the time for which the others waited for it in collectives, as the last to arrive.
std::string lateness_text(const Summary& summary) {
    Ranking ranking;
    for (const auto& [pe, late] : summary.last_to_arrive)
        ranking.add(late.ns, "  PE " + std::to_string(pe) + ": last in " + std::to_string(late.times) +
                                 " of " + std::to_string(summary.meetings) +
                                 " collectives; the others waited " + time_of(late.ns) +
                                 " for it, all together");
    return ranking.text();
}

/// For each PE the time of others' waits because of it, also through PEs that waited for it.
std::string origins_text(const Summary& summary) {
    Ranking ranking;
    for (const auto& [pe, ns] : summary.origins)
        if (ns > 0)
            ranking.add(ns,
                        "  PE " + std::to_string(pe) + ": " + time_of(ns) + " of the others, all together");
    return ranking.text();
}

/// For each pair of PEs the time for which one waited until the other sent its signal or message.
std::string signals_text(const Summary& summary) {
    Ranking ranking;
    for (const auto& [pair, late] : summary.kept_by_signals)
        ranking.add(late.ns, "  PE " + std::to_string(pair.second) + " for PE " + std::to_string(pair.first) +
                                 ": " + time_of(late.ns) + " in " + std::to_string(late.times) +
                                 (late.times == 1 ? " wait" : " waits"));
    return ranking.text();
}

/// The PEs whose memory was accessed most: a hot spot has a multiple of the mean.
std::string targets_text(const Summary& summary) {
    std::map<int, Traffic> by_target;
    std::uint64_t all = 0;
    for (const auto& [pair, one] : summary.traffic) {
        by_target[pair.second].add(one);
        all += one.bytes;
    }
    if (all == 0) return {};
    const double mean = static_cast<double>(all) / static_cast<double>(summary.pes);
    Ranking ranking;
    for (const auto& [pe, one] : by_target) {
        char times[32];
        std::snprintf(times, sizeof times, "%.1f", static_cast<double>(one.bytes) / mean);
        ranking.add(one.bytes, "  PE " + std::to_string(pe) + ": " + common::bytes_text(one.bytes) + " in " +
                                   calls_text(one.calls) + ", " + times + " times the mean");
    }
    return ranking.text();
}

std::string pairs_text(const Summary& summary) {
    Ranking ranking;
    for (const auto& [pair, one] : summary.traffic)
        ranking.add(one.bytes, "  PE " + std::to_string(pair.first) + " with PE " +
                                   std::to_string(pair.second) + ": " + common::bytes_text(one.bytes) +
                                   " in " + calls_text(one.calls));
    return ranking.text();
}

std::string sites_text(const Summary& summary) {
    Ranking ranking;
    for (const auto& [key, one] : summary.sites)
        ranking.add(one.ns, "  " + key.first + ": " + key.second + ", " + time_of(one.ns) + " in " +
                                calls_text(one.calls));
    return ranking.text();
}

std::string ranges_text(const std::map<std::string, std::map<int, std::uint64_t>>& ranges) {
    Ranking ranking;
    for (const auto& [name, times] : ranges) {
        const Spread spread = spread_of(times);
        const auto& [least_pe, least_ns] = spread.least;
        const auto& [most_pe, most_ns] = spread.most;
        ranking.add(spread.sum_ns, "  " + name + ": " + time_of(spread.sum_ns) + " of all PEs; " +
                                       time_of(least_ns) + " (PE " + std::to_string(least_pe) + ") to " +
                                       time_of(most_ns) + " (PE " + std::to_string(most_pe) + ")");
    }
    return ranking.text();
}

}  // namespace

std::string more_text(std::size_t all, std::size_t shown) {
    return all > shown ? "  and " + std::to_string(all - shown) + " more\n" : "";
}

std::string parts_text(std::initializer_list<std::pair<const char*, std::string>> parts) {
    std::string text;
    for (const auto& [title, lines] : parts)
        if (!lines.empty()) text += "\n" + std::string(title) + ":\n" + lines;
    return text;
}

std::string report_text(const Summary& summary) {
    std::string text = std::to_string(summary.pes) + (summary.pes == 1 ? " PE, " : " PEs, ") +
                       std::to_string(summary.events) + " events in " + time_of(summary.length_ns);
    if (summary.dropped != 0)
        text += "; " + std::to_string(summary.dropped) + " later events are missing: a log was full";
    text += '\n';
    if (summary.hosts > 1)
        text += std::to_string(summary.hosts) + " hosts, whose clocks agree within " +
                time_of(static_cast<std::uint64_t>(summary.clock_error_us * 1e3)) + "\n";
    return text +
           parts_text({
               {"operations of all PEs", common::statistics_table(summary.statistics)},
               {"time of the PEs' first threads", balance_text(summary)},
               {"where the waiting began", origins_text(summary)},
               {"the last to arrive", lateness_text(summary)},
               {"waits for signals and messages", signals_text(summary)},
               {"most bytes at a PE", targets_text(summary)},
               {"most bytes between PEs", pairs_text(summary)},
               {"heaviest call sites", sites_text(summary)},
               {"ranges of the program", ranges_text(summary.ranges)},
               {"inside kernels, all blocks together", common::statistics_table(summary.kernel_statistics)},
               {"ranges of kernels, all blocks together", ranges_text(summary.kernel_ranges)},
           });
}

}  // namespace atl::cli
