#include "cli/top/table.hpp"

#include "common/pe_ranges.hpp"
#include "common/recorder/table.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace atl::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string whole(double value) { return std::to_string(std::lround(value)); }
std::string bytes(double value) {
    const auto whole_bytes = static_cast<std::uint64_t>(std::llround(value));
    return whole_bytes == 0 ? "0" : common::bytes_text(whole_bytes);
}

std::string time_text(double seconds) {
    char text[32];
    const auto all = static_cast<long>(seconds);
    if (seconds < 60)
        std::snprintf(text, sizeof text, "%.1f s", seconds);
    else if (all < 3600)
        std::snprintf(text, sizeof text, "%ld:%02ld min", all / 60, all % 60);
    else
        std::snprintf(text, sizeof text, "%ld:%02ld h", all / 3600, all / 60 % 60);
    return text;
}

template <class Value> std::string or_dash(const std::optional<Value>& value, std::string (*text)(double)) {
    return value ? text(static_cast<double>(*value)) : "-";
}

/// A column of a job's table.
struct Column {
    const char* title;
    char side;
    bool (*is_used)(const TopRow&);  ///< null: always; else the column is left out if no row uses it
    std::string (*cell)(const TopRow&);
};

bool has_rates(const TopRow& row) { return row.rates.has_value(); }
std::string rate_cell(const TopRow& row, double Rates::*which) {
    return row.rates ? bytes((*row.rates).*which) : "-";
}

constexpr Column columns[] = {
    {"PE", 'l', nullptr, [](const TopRow& row) { return common::pe_ranges(row.pes); }},
    {"CPU %", 'r', nullptr, [](const TopRow& row) { return or_dash(row.cpu_percent, whole); }},
    {"memory", 'r', nullptr, [](const TopRow& row) { return or_dash(row.resident_bytes, bytes); }},
    {"heap", 'r', nullptr, [](const TopRow& row) { return or_dash(row.heap_bytes, bytes); }},
    {"GPU", 'r', [](const TopRow& row) { return row.gpu_bytes > 0 || row.gpu >= 0; },
     [](const TopRow& row) { return row.gpu < 0 ? std::string("-") : std::to_string(row.gpu); }},
    {"GPU heap", 'r', [](const TopRow& row) { return row.gpu_bytes > 0; },
     [](const TopRow& row) { return bytes(row.gpu_bytes); }},
    {"put/s", 'r', has_rates, [](const TopRow& row) { return rate_cell(row, &Rates::put); }},
    {"got/s", 'r', has_rates, [](const TopRow& row) { return rate_cell(row, &Rates::got); }},
    {"coll/s", 'r', has_rates, [](const TopRow& row) { return rate_cell(row, &Rates::collective); }},
    {"waits", 'r', nullptr,
     [](const TopRow& row) { return row.seconds > 0 ? time_text(row.seconds) : std::string("-"); }},
    {"state", 'l', nullptr, [](const TopRow& row) { return row.text; }},
};

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const TopRow& row) {
    const auto rate = [&](double Rates::*which) {
        return row.rates ? Json((*row.rates).*which) : Json(nullptr);
    };
    return {{"pes", row.pes},
            {"state", row.state},
            {"text", row.text},
            {"waits_s", row.seconds},
            {"process", row.pid},
            {"cpu_percent", number_or_null(row.cpu_percent)},
            {"resident_bytes", number_or_null(row.resident_bytes)},
            {"heap_bytes", number_or_null(row.heap_bytes)},
            {"gpu", row.gpu < 0 ? Json(nullptr) : Json(row.gpu)},
            {"gpu_bytes", row.gpu_bytes},
            {"put_bytes_per_s", rate(&Rates::put)},
            {"got_bytes_per_s", rate(&Rates::got)},
            {"collective_bytes_per_s", rate(&Rates::collective)}};
}

Json fields_of(const JobRow& job) {
    return {{"job", job.pid},         {"n_pes", job.n_pes},
            {"waiting", job.waiting}, {"cpu_percent", job.cpu_percent},
            {"seconds", job.seconds}, {"program", job.program}};
}

}  // namespace

std::string jobs_text(const std::vector<JobRow>& jobs) {
    if (jobs.empty()) return "no job of yours runs on this host\n";
    std::vector<std::vector<std::string>> lines{{"job", "PEs", "waiting", "CPU %", "time", "program"}};
    for (const JobRow& job : jobs)
        lines.push_back({std::to_string(job.pid), std::to_string(job.n_pes), std::to_string(job.waiting),
                         whole(job.cpu_percent), time_text(job.seconds), job.program});
    return common::table_text(lines, "rrrrrl");
}

std::string job_text(const JobFigures& figures, bool folds) {
    const JobRow& job = figures.job;
    std::string text = "job " + std::to_string(job.pid) + ": " + std::to_string(job.n_pes) +
                       (job.n_pes == 1 ? " PE, " : " PEs, ") + std::to_string(job.waiting) +
                       " waiting, CPU " + whole(job.cpu_percent) + " %, for " + time_text(job.seconds) +
                       (job.program.empty() ? "" : ": " + job.program) + "\n";
    std::vector<std::vector<std::string>> lines(1 + figures.rows.size());
    std::string sides;
    for (const Column& column : columns) {
        if (column.is_used && std::none_of(figures.rows.begin(), figures.rows.end(), column.is_used))
            continue;
        sides += column.side;
        lines[0].emplace_back(column.title);
        for (std::size_t i = 0; i < figures.rows.size(); ++i)
            lines[1 + i].push_back(column.cell(figures.rows[i]));
    }
    text += common::table_text(lines, sides);
    if (folds && figures.rows.size() < static_cast<std::size_t>(job.n_pes))
        text +=
            "A line of several PEs has the mean of each figure, and the longest wait. --each shows every "
            "PE.\n";
    return text;
}

Json jobs_json(const std::vector<JobRow>& jobs) {
    Json all = Json::array();
    for (const JobRow& job : jobs) all.push_back(fields_of(job));
    return {{"jobs", all}};
}

Json job_json(const JobFigures& figures) {
    Json all = fields_of(figures.job);
    all["heap_limit_bytes"] = figures.heap_limit_bytes;
    all["rows"] = Json::array();
    for (const TopRow& row : figures.rows) all["rows"].push_back(row_json(row));
    return all;
}

}  // namespace atl::cli
