// NVIDIA's Multi-Process Service (MPS), which lets PEs that share a GPU run on it at the same time. Finds a
// running daemon, or starts one for the job.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "cli/command/command.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

/// A control daemon of MPS.
struct MpsDaemon {
    uid_t owner = 0;
    pid_t pid = -1;      ///< -1: not known
    std::string folder;  ///< its pipe directory; empty: not known
};

/// The daemon that this user's programs use, if it answers.
std::optional<MpsDaemon> own_mps_daemon();
/// A daemon of another user, found by its process or its pipe directory.
std::optional<MpsDaemon> foreign_mps_daemon();
/// A text such as "none runs", "of this user, /tmp/nvidia-mps" or "of user 1001 (process 1234)".
std::string describe_mps();

/// Lets programs that this process starts use MPS. Uses this user's daemon and leaves it unchanged, or starts
/// one that ends with this process, even if the process is killed. Throws UsageError if MPS is missing or
/// belongs to another user.
///
/// Divides the GPU's work queues among `n_pes` programs, unless CUDA_DEVICE_MAX_CONNECTIONS is set. By
/// default each has few under MPS. Kernels on several streams then share a queue, and one that waits for
/// another PE can hold up the kernel needed by this PE.
class Mps {
  public:
    explicit Mps(int n_pes);
    ~Mps();
    Mps(const Mps&) = delete;
    Mps& operator=(const Mps&) = delete;

  private:
    void start(const std::string& folder);

    common::Fd lifeline_;  ///< the guard ends when this is closed
    common::Fd status_;    ///< the guard's output; end of file once it has ended
};

/// `atoll mps-guard FOLDER` (internal): starts a daemon in FOLDER and ends it once standard input ends.
/// Prints "ok" or the error on standard output.
int mps_guard_command(const Arguments& arguments);

}  // namespace atl::cli
