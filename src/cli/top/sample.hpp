// Figures of a running job for `atoll top`: what each PE does and uses.
#pragma once

#include "common/board/board.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atl::cli {

/// Bytes that a PE's calls have moved so far.
struct Moved {
    std::uint64_t put = 0, got = 0, collective = 0;
};

/// A PE at one moment.
struct PeSample {
    common::PeDoing doing;
    std::vector<int> awaited;  ///< the PEs that its wait needs, if known
    std::uint64_t resident_bytes = 0;
    std::uint64_t heap_bytes = 0;
    int gpu = -1;  ///< -1: it has opened none
    std::uint64_t gpu_bytes = 0;
    std::optional<Moved> moved;  ///< only with statistics or a trace
    /// False without a process of this host that has called init.
    bool has_process() const { return doing.process != '?' && doing.process != common::silent_process; }
};

/// A job at one moment.
struct JobSample {
    std::uint64_t taken_ns = 0;
    std::vector<PeSample> pes;
};

JobSample take_sample(const common::BoardView& board);

/// Bytes a second.
struct Rates {
    double put = 0, got = 0, collective = 0;
};

/// Figures of one PE, or the means of several that are in the same state.
struct TopRow {
    std::vector<int> pes;
    std::string state;   ///< a word: see state_words
    std::string text;    ///< such as "barrier, for PE 1, at solver.py:88"
    double seconds = 0;  ///< the longest wait; 0: it does not wait
    int pid = 0;         ///< 0: unknown, or of several PEs
    std::optional<double> cpu_percent;
    std::optional<double> resident_bytes;
    std::optional<double> heap_bytes;
    int gpu = -1;  ///< -1: none, or different ones
    double gpu_bytes = 0;
    std::optional<Rates> rates;
};

/// A row for each PE, with CPU time and bytes since `before`.
std::vector<TopRow> rows_of(const JobSample& before, const JobSample& now);
/// One row for all PEs that do the same.
std::vector<TopRow> folded(const std::vector<TopRow>& rows);

/// Percent of a core, of all PEs.
double cpu_percent_of(const JobSample& before, const JobSample& now);

/// The end of a job from the last states: "every PE has finalized", "PE 1 died; PE 0,2 ended without
/// finalize".
std::string end_text(const common::BoardView& board);

}  // namespace atl::cli
