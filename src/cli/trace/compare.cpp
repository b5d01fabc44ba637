// `atoll report --compare A B`.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cli/trace/report.hpp"
#include "common/recorder/table.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

using Lines = std::vector<std::vector<std::string>>;

constexpr std::size_t most_compared = 12;  ///< lines of each part

/// Returns the ratio as text, such as "0.39"; empty if `first` is not positive.
std::string ratio_text(double first, double second) {
    if (first <= 0) return {};
    char text[32];
    std::snprintf(text, sizeof text, second / first < 10 ? "%.2f" : "%.0f", second / first);
    return text;
}

std::string change_text(double first_s, double second_s) {
    return (second_s < first_s ? "-" : "+") + common::time_text(std::abs(second_s - first_s));
}

/// Lines that sort by how much a time has changed.
class Changes {
  public:
    explicit Changes(std::vector<std::string> titles) : titles_(std::move(titles)) {}
    void add(double first_s, double second_s, std::vector<std::string> cells) {
        cells.push_back(common::time_text(first_s));
        cells.push_back(common::time_text(second_s));
        cells.push_back(change_text(first_s, second_s));
        cells.push_back(ratio_text(first_s, second_s));
        lines_.emplace_back(std::abs(second_s - first_s), std::move(cells));
    }
    std::string text(std::string_view sides) {
        if (lines_.empty()) return {};
        std::stable_sort(lines_.begin(), lines_.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        Lines table{titles_};
        for (const auto& [change, cells] : lines_)
            if (table.size() <= most_compared) table.push_back(cells);
        const std::string all = common::table_text(table, sides);
        return all + more_text(lines_.size(), most_compared);
    }

  private:
    std::vector<std::string> titles_;
    std::vector<std::pair<double, std::vector<std::string>>> lines_;
};

std::string calls_text(std::uint64_t first, std::uint64_t second) {
    const std::string one = std::to_string(first);
    return first == second ? one : one + " -> " + std::to_string(second);
}

/// Pairs of the values of two maps; a key that one of them lacks has an empty value there.
template <class Map, class Body> void each_pair(const Map& first, const Map& second, Body&& body) {
    std::set<typename Map::key_type> keys;
    for (const Map* map : {&first, &second})
        for (const auto& [key, value] : *map) keys.insert(key);
    const auto value_of = [](const Map& map, const typename Map::key_type& key) {
        const auto found = map.find(key);
        return found == map.end() ? typename Map::mapped_type{} : found->second;
    };
    for (const auto& key : keys) body(key, value_of(first, key), value_of(second, key));
}

std::string whole_text(const Compared& a, const Compared& b) {
    const auto sums = [](const Summary& summary) {
        PeTimes sum;
        for (const PeTimes& one : summary.times) sum.add(one);
        return sum;
    };
    const PeTimes first = sums(a.summary), second = sums(b.summary);
    Lines table{{"", a.title, b.title, "ratio"}};
    table.push_back({"PEs", std::to_string(a.summary.pes), std::to_string(b.summary.pes), ""});
    table.push_back({"events", std::to_string(a.summary.events), std::to_string(b.summary.events), ""});
    const auto add = [&](const char* name, std::uint64_t one, std::uint64_t other) {
        table.push_back({name, time_of(one), time_of(other), ratio_text(seconds_of(one), seconds_of(other))});
    };
    add("from first to last event", a.summary.length_ns, b.summary.length_ns);
    add("own code, all PEs", first.own_ns(), second.own_ns());
    add("waiting, all PEs", first.waiting_ns, second.waiting_ns);
    add("moving data, all PEs", first.moving_ns(), second.moving_ns());
    return common::table_text(table, "lrrr");
}

std::string operations_text(const Summary& a, const Summary& b) {
    const auto by_name = [](const Summary& summary) {
        std::map<std::string, common::OperationStatistics> sums;
        for (const common::OperationSum& one : common::operation_sums(summary.statistics))
            sums[std::string(common::operation_name(one.sum.operation))] = one.sum;
        return sums;
    };
    Changes changes({"operation", "calls", "bytes", "A", "B", "change", "ratio"});
    each_pair(by_name(a), by_name(b), [&](const std::string& name, const auto& one, const auto& other) {
        const std::string bytes =
            one.bytes == other.bytes
                ? (one.bytes == 0 ? "" : common::bytes_text(one.bytes))
                : common::bytes_text(one.bytes) + " -> " + common::bytes_text(other.bytes);
        changes.add(one.total_s, other.total_s, {name, calls_text(one.calls, other.calls), bytes});
    });
    return changes.text("lrrrrrr");
}

std::string sites_text(const Summary& a, const Summary& b) {
    Changes changes({"line", "operation", "calls", "A", "B", "change", "ratio"});
    each_pair(a.sites, b.sites, [&](const auto& key, const SiteSummary& one, const SiteSummary& other) {
        changes.add(seconds_of(one.ns), seconds_of(other.ns),
                    {key.first, key.second, calls_text(one.calls, other.calls)});
    });
    return changes.text("llrrrrr");
}

std::string lateness_text(const Summary& a, const Summary& b) {
    const auto by_pe = [](const Summary& summary) {
        std::map<int, Late> sums;
        for (const auto* kept : {&summary.kept_in_collectives, &summary.kept_by_signals})
            for (const auto& [pair, late] : *kept) sums[pair.first].add(late);
        return sums;
    };
    Changes changes({"late PE", "A", "B", "change", "ratio"});
    each_pair(by_pe(a), by_pe(b), [&](int pe, const Late& one, const Late& other) {
        changes.add(seconds_of(one.ns), seconds_of(other.ns), {"PE " + std::to_string(pe)});
    });
    return changes.text("lrrrr");
}

}  // namespace

std::string compare_text(const Compared& a, const Compared& b) {
    return whole_text(a, b) +
           parts_text({
               {"operations of all PEs, the largest change first", operations_text(a.summary, b.summary)},
               {"call sites, the largest change first", sites_text(a.summary, b.summary)},
               {"time for which others waited for a PE", lateness_text(a.summary, b.summary)},
           });
}

}  // namespace atl::cli
