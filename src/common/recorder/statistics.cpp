#include "common/recorder/statistics.hpp"

#include "common/recorder/table.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <cstdio>

namespace atl::common {

void OperationSum::add(int pe, const OperationStatistics& one) {
    sum.operation = one.operation;
    sum.calls += one.calls;
    sum.bytes += one.bytes;
    sum.total_s += one.total_s;
    sum.waiting_s += one.waiting_s;
    sum.longest_s = std::max(sum.longest_s, one.longest_s);
    if (least_pe < 0 || one.total_s < least_s) {
        least_pe = pe;
        least_s = one.total_s;
    }
    if (most_pe < 0 || one.total_s > most_s) {
        most_pe = pe;
        most_s = one.total_s;
    }
}

std::vector<OperationSum> operation_sums(const std::vector<PeStatistics>& pes) {
    std::vector<OperationSum> rows(operation_count);
    for (const PeStatistics& pe : pes)
        for (const OperationStatistics& one : pe.operations)
            if (one.calls != 0 && one.operation < operation_count) rows[one.operation].add(pe.pe, one);
    std::erase_if(rows, [](const OperationSum& row) { return row.sum.calls == 0; });
    std::stable_sort(rows.begin(), rows.end(), [](const OperationSum& a, const OperationSum& b) {
        return a.sum.total_s > b.sum.total_s;
    });
    return rows;
}

namespace {

std::vector<std::string> cells_of(const OperationSum& row) {
    const OperationStatistics& sum = row.sum;
    char share[16];
    std::snprintf(share, sizeof share, "%.0f %%",
                  sum.total_s > 0 ? 100 * std::min(1.0, sum.waiting_s / sum.total_s) : 0);
    const auto of_pe = [](double seconds, int pe) {
        return time_text(seconds) + " (PE " + std::to_string(pe) + ")";
    };
    return {std::string(operation_name(sum.operation)),
            std::to_string(sum.calls),
            sum.bytes == 0 ? "" : bytes_text(sum.bytes),
            time_text(sum.total_s),
            time_text(sum.total_s / static_cast<double>(sum.calls)),
            time_text(sum.longest_s),
            share,
            row.least_pe == row.most_pe
                ? of_pe(row.most_s, row.most_pe)
                : of_pe(row.least_s, row.least_pe) + " to " + of_pe(row.most_s, row.most_pe)};
}

/// One metric of OpenMetrics.
struct Metric {
    const char* name;
    const char* unit;  ///< empty: none
    const char* help;
    bool is_counter;
    double (*value)(const OperationStatistics&);
};
constexpr Metric metrics[] = {
    {"atoll_operation_calls", "", "Calls of an operation.", true,
     [](const OperationStatistics& one) { return static_cast<double>(one.calls); }},
    {"atoll_operation_moved_bytes", "bytes", "Bytes that the calls moved.", true,
     [](const OperationStatistics& one) { return static_cast<double>(one.bytes); }},
    {"atoll_operation_seconds", "seconds", "Time within the calls.", true,
     [](const OperationStatistics& one) { return one.total_s; }},
    {"atoll_operation_waiting_seconds", "seconds", "Part of that time within waits for other PEs.", true,
     [](const OperationStatistics& one) { return one.waiting_s; }},
    {"atoll_operation_longest_seconds", "seconds", "The longest call.", false,
     [](const OperationStatistics& one) { return one.longest_s; }},
};

}  // namespace

std::string time_text(double seconds) {
    struct Unit {
        double seconds;
        const char* name;
    };
    constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    const Unit* unit = std::begin(units);
    while (unit + 1 != std::end(units) && seconds < unit->seconds) ++unit;
    const double value = seconds / unit->seconds;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit->name);
    return text;
}

PeStatistics read_statistics(int pe, const PeCounters& counters) {
    PeStatistics read{pe, {}};
    if (counters.is_on.load(std::memory_order_acquire) == 0) return read;
    const bool uses_counter = counters.uses_counter.load(std::memory_order_relaxed) != 0;
    const TickScale scale({counters.began_ticks.load(std::memory_order_relaxed),
                           counters.began_ns.load(std::memory_order_relaxed)},
                          ClockPair::now(uses_counter));
    for (std::size_t i = 0; i < operation_count; ++i) {
        OperationStatistics one;
        one.operation = static_cast<std::uint16_t>(i);
        for (const OperationCounters* set : {counters.own, counters.others}) {
            const OperationCounters& c = set[i];
            one.calls += c.calls.load(std::memory_order_relaxed);
            one.bytes += c.bytes.load(std::memory_order_relaxed);
            one.total_s += scale.ns_of(c.ticks.load(std::memory_order_relaxed)) * 1e-9;
            one.waiting_s += scale.ns_of(c.waiting.load(std::memory_order_relaxed)) * 1e-9;
            one.longest_s =
                std::max(one.longest_s, scale.ns_of(c.longest.load(std::memory_order_relaxed)) * 1e-9);
        }
        if (one.calls != 0) read.operations.push_back(one);
    }
    return read;
}

std::string statistics_table(const std::vector<PeStatistics>& pes) {
    const std::vector<OperationSum> rows = operation_sums(pes);
    if (rows.empty()) return {};
    std::vector<std::vector<std::string>> lines{
        {"operation", "calls", "bytes", "total", "mean", "max", "waiting", "by PE"}};
    for (const OperationSum& row : rows) lines.push_back(cells_of(row));
    return table_text(lines, "lrrrrrrl");
}

std::string statistics_openmetrics(const std::vector<PeStatistics>& pes) {
    std::string text;
    for (const Metric& metric : metrics) {
        const std::string name = metric.name;
        text += "# TYPE " + name + (metric.is_counter ? " counter\n" : " gauge\n");
        if (*metric.unit != '\0') text += "# UNIT " + name + " " + metric.unit + "\n";
        text += "# HELP " + name + " " + metric.help + "\n";
        for (const PeStatistics& pe : pes)
            for (const OperationStatistics& one : pe.operations) {
                char value[40];
                std::snprintf(value, sizeof value, "%.17g", metric.value(one));
                text += name + (metric.is_counter ? "_total" : "") + "{pe=\"" + std::to_string(pe.pe) +
                        "\",operation=\"" + std::string(operation_name(one.operation)) + "\"} " + value +
                        "\n";
            }
    }
    return text + "# EOF\n";
}

}  // namespace atl::common
