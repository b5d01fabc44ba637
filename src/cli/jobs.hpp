// The running jobs of this user on this host, found by the job boards that their launchers or PEs hold.
#pragma once

#include "common/board/board.hpp"
#include "common/descriptors/fd.hpp"

#include <string>
#include <vector>

namespace atl::cli {

class RunningJob {
  public:
    /// Maps the board that process `pid` holds: a launcher, or the PE that made it where no launcher did.
    /// Throws UsageError for any other process, user or release.
    explicit RunningJob(int pid);
    RunningJob(RunningJob&& other) noexcept;
    RunningJob(const RunningJob&) = delete;
    ~RunningJob();

    int pid() const { return pid_; }
    const common::BoardView& board() const { return board_; }
    /// The command of the first PE that has joined, such as "python3 solver.py"; empty if unknown.
    std::string program() const;

    /// The job of a board's path, which has the process number of its maker. Throws UsageError.
    static RunningJob at(const std::string& path);
    /// All jobs that this process may read.
    static std::vector<RunningJob> all();
    /// The job of a launcher's or a PE's process number. Throws UsageError.
    static RunningJob of(const std::string& number);
    /// The only job of `all`. Throws UsageError if there are others, or none.
    static RunningJob only(const char* usage);

  private:
    RunningJob(int pid, const common::Fd& board);

    int pid_;
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    common::BoardView board_;
};

/// `atoll ps`, `atoll top [JOB]`, `atoll stacks [JOB]` and `atoll record [JOB|FILE]`.
int ps_command(const std::vector<std::string>& arguments);
int top_command(const std::vector<std::string>& arguments);
int stacks_command(const std::vector<std::string>& arguments);
int record_command(const std::vector<std::string>& arguments);

}  // namespace atl::cli
