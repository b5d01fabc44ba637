// The files of `atoll run --trace` and `--record`.
#pragma once

#include "cli/trace/job_trace.hpp"
#include "common/board/board.hpp"
#include "common/settings/settings.hpp"

#include <functional>
#include <string>

namespace atl::cli {

/// Writes the files when the job has ended. Nothing that goes wrong here changes the job's status.
class TraceOutput {
  public:
    using Say = std::function<void(const std::string& sentence)>;
    /// Says which files cannot be written; the job then runs without them.
    TraceOutput(const common::Settings& settings, const Say& say);

    /// Most events of a PE's log; 0: no log is needed.
    std::uint64_t log_events() const { return trace_.empty() && record_.empty() ? 0 : log_events_; }
    /// True if one-sided operations are logged, too.
    bool logs_moves() const { return !trace_.empty(); }
    void write(const common::BoardView& board, const Say& say) const;
    void write(const JobTrace& trace, const Say& say) const;

  private:
    std::string trace_, record_;
    std::uint64_t log_events_;
};

}  // namespace atl::cli
