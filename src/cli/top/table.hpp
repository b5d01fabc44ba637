// Figures of running jobs as text and as JSON.
#pragma once

#include "cli/top/sample.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace atl::cli {

/// A job among others.
struct JobRow {
    int pid = 0;
    int n_pes = 0;
    int waiting = 0;
    double cpu_percent = 0;  ///< sum over all PEs
    double seconds = 0;      ///< since its start
    std::string program;
};

/// One job with its rows.
struct JobFigures {
    JobRow job;
    std::uint64_t heap_limit_bytes = 0;  ///< limit of each PE; 0: no PE has called init
    std::vector<TopRow> rows;
};

std::string jobs_text(const std::vector<JobRow>& jobs);
/// `folds`: rows are of several PEs.
std::string job_text(const JobFigures& figures, bool folds);

nlohmann::ordered_json jobs_json(const std::vector<JobRow>& jobs);
nlohmann::ordered_json job_json(const JobFigures& figures);

}  // namespace atl::cli
