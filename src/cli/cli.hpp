// The `atoll` command: what its parts share.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace atl::cli {

using Arguments = std::vector<std::string>;

/// Something the user can put right: one sentence, and the status that the command ends with.
class UsageError : public std::runtime_error {
  public:
    explicit UsageError(const std::string& sentence, int status = bad_usage)
        : std::runtime_error(sentence), status_(status) {}
    int status() const noexcept { return status_; }

    static constexpr int bad_usage = 2;
    static constexpr int not_executable = 126;  // 126 and 127 are what shells use
    static constexpr int not_found = 127;

  private:
    int status_;
};

/// The commands: `arguments` are those after the command's name; the result is the process's status.
int run_command(const Arguments& arguments);
/// Within a job.
int info_of_job();
int info_command(const Arguments& arguments);
int bench_command(const Arguments& arguments);

/// The folder that this executable stands in.
std::string executable_folder();

}  // namespace atl::cli
