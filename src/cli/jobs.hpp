// The running jobs of this user on this host, found by the job boards that their launchers hold.
#pragma once

#include "common/board.hpp"

#include <string>
#include <vector>

namespace atl::cli {

class RunningJob {
  public:
    /// Maps the board of the launcher `pid`. Throws UsageError if that is not a launcher of this user and
    /// release.
    explicit RunningJob(int pid);
    RunningJob(RunningJob&& other) noexcept;
    RunningJob(const RunningJob&) = delete;
    ~RunningJob();

    int pid() const { return pid_; }
    const common::BoardView& board() const { return board_; }

    /// All jobs that this process may look at.
    static std::vector<RunningJob> all();
    /// The job of a launcher's or a PE's process number. Throws UsageError.
    static RunningJob of(const std::string& number);

  private:
    int pid_;
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
    common::BoardView board_;
};

/// `atoll ps`, `atoll stacks JOB` and `atoll record JOB`.
int ps_command(const std::vector<std::string>& arguments);
int stacks_command(const std::vector<std::string>& arguments);
int record_command(const std::vector<std::string>& arguments);

}  // namespace atl::cli
