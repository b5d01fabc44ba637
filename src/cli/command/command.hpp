// Declarations that all commands of `atoll` share.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace atl::cli {

using Arguments = std::vector<std::string>;

/// A mistake that the user can correct: a sentence, and the exit status of the command.
class UsageError : public std::runtime_error {
  public:
    explicit UsageError(const std::string& sentence, int status = bad_usage)
        : std::runtime_error(sentence), status_(status) {}
    int status() const noexcept { return status_; }

    static constexpr int bad_usage = 2;
    static constexpr int not_executable = 126;  // 126 and 127 as in shells
    static constexpr int not_found = 127;

  private:
    int status_;
};

/// Begins every line of the launcher's own.
inline constexpr const char* line_begin = "atoll run: ";

constexpr int timeout_status = 124;  ///< status of a job that --timeout ended; timeout(1) uses it, too

/// Throws if a part of the output was lost, such as on a full disk.
void check_stdout();

/// Sets a variable of this process, given as "NAME=VALUE".
void set_variable(const std::string& entry);

/// The path of this executable; empty if it is not known.
std::string executable();

/// Its folder.
std::string executable_folder();

}  // namespace atl::cli
