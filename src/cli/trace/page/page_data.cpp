#include "cli/trace/page/page_data.hpp"

#include "cli/trace/page/time_line.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace atl::cli {

using Json = nlohmann::ordered_json;

PageRows::PageRows(const JobTrace& trace) {
    constexpr int most = 128;
    int pes = 1;
    for (const PeTrace& pe : trace.pes) pes = std::max(pes, pe.pe + 1);
    width_ = (pes + most - 1) / most;
    count_ = static_cast<std::size_t>((pes + width_ - 1) / width_);
}

namespace {

constexpr std::size_t most_sites = 200, most_ranges = 100;

/// The rows with the largest number in a column, that one first.
Json largest(std::vector<Json> rows, std::size_t column, std::size_t most) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const Json& a, const Json& b) { return a[column] > b[column]; });
    if (rows.size() > most) rows.resize(most);
    return rows;
}

Json operations_of(const std::vector<common::PeStatistics>& statistics) {
    Json rows = Json::array();
    for (const common::OperationSum& one : common::operation_sums(statistics))
        rows.push_back({common::operation_name(one.sum.operation), one.sum.calls, one.sum.bytes,
                        one.sum.total_s, one.sum.longest_s, one.sum.waiting_s, one.least_s, one.least_pe,
                        one.most_s, one.most_pe});
    return rows;
}

Json times_of(const Summary& summary, const PageRows& rows) {
    std::vector<PeTimes> sums(rows.count());
    for (const PeTimes& one : summary.times) sums[rows.row_of(one.pe)].add(one);
    Json list = Json::array();
    for (const PeTimes& sum : sums) list.push_back({sum.all_ns, sum.moving_ns(), sum.waiting_ns});
    return list;
}

/// Cells of a matrix: row, column and two numbers.
template <class Value, class Numbers>
Json matrix_of(const std::map<PePair, Value>& values, const PageRows& rows, Numbers&& numbers) {
    std::map<std::pair<std::size_t, std::size_t>, Value> cells;
    for (const auto& [pair, value] : values)
        cells[{rows.row_of(pair.first), rows.row_of(pair.second)}].add(value);
    Json list = Json::array();
    for (const auto& [cell, value] : cells) {
        const auto [first, second] = numbers(value);
        list.push_back({cell.first, cell.second, first, second});
    }
    return list;
}

Json sites_of(const Summary& summary) {
    std::vector<Json> rows;
    for (const auto& [key, one] : summary.sites)
        rows.push_back({key.first, key.second, one.calls, one.bytes, one.ns, one.longest_ns, one.waiting_ns});
    return largest(std::move(rows), 4, most_sites);
}

Json ranges_of(const std::map<std::string, std::map<int, std::uint64_t>>& ranges) {
    std::vector<Json> rows;
    for (const auto& [name, times] : ranges) {
        const Spread spread = spread_of(times);
        rows.push_back({name, spread.sum_ns, spread.least.second, spread.least.first, spread.most.second,
                        spread.most.first});
    }
    return largest(std::move(rows), 1, most_ranges);
}

Json late_of(const Summary& summary) {
    std::vector<Json> rows;
    for (const auto& [pe, late] : summary.last_to_arrive) rows.push_back({pe, late.times, late.ns});
    return largest(std::move(rows), 2, most_ranges);
}

Json origins_of(const Summary& summary) {
    std::vector<Json> rows;
    for (const auto& [pe, ns] : summary.origins)
        if (ns > 0) rows.push_back({pe, ns});
    return largest(std::move(rows), 1, most_ranges);
}

}  // namespace

Json page_data(const PageSource& source) {
    const Summary& summary = source.summary;
    const PageRows rows(source.trace);
    const auto of_traffic = [](const Traffic& one) { return std::pair(one.bytes, one.calls); };
    const auto of_late = [](const Late& one) { return std::pair(one.ns, one.times); };
    Json other;
    if (source.other != nullptr)
        other = {{"title", source.other_title},
                 {"length", source.other->length_ns},
                 {"operations", operations_of(source.other->statistics)},
                 {"sites", sites_of(*source.other)}};
    return {
        {"title", source.title},
        {"pes", summary.pes},
        {"rows", rows.count()},
        {"width", rows.width()},
        {"events", summary.events},
        {"length", summary.length_ns},
        {"dropped", summary.dropped},
        {"meetings", summary.meetings},
        {"operations", operations_of(summary.statistics)},
        {"times", times_of(summary, rows)},
        {"traffic", matrix_of(summary.traffic, rows, of_traffic)},
        {"keptInCollectives", matrix_of(summary.kept_in_collectives, rows, of_late)},
        {"keptBySignals", matrix_of(summary.kept_by_signals, rows, of_late)},
        {"late", late_of(summary)},
        {"origins", origins_of(summary)},
        {"sites", sites_of(summary)},
        {"ranges", ranges_of(summary.ranges)},
        {"kernels", operations_of(summary.kernel_statistics)},
        {"kernelRanges", ranges_of(summary.kernel_ranges)},
        {"timeLine", time_line_of(source.trace, rows)},
        {"sizes", sizes_of(source.trace)},
        {"heap", heap_of(source.trace)},
        {"other", std::move(other)},
    };
}

}  // namespace atl::cli
