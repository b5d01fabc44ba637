// NVIDIA's Multi-Process Service, by which PEs that share a GPU run on it at once: which daemon there is, and
// one of the job's own.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>

#include "cli/cli.hpp"
#include "common/fd.hpp"

namespace atl::cli {

/// A control daemon of MPS.
struct MpsDaemon {
    uid_t owner = 0;
    pid_t pid = -1;      ///< -1: not known
    std::string folder;  ///< its pipe directory; empty: not known
};

/// The one that this user's programs use, if it answers.
std::optional<MpsDaemon> own_mps_daemon();
/// One of another user, that processes or its pipe directory show.
std::optional<MpsDaemon> foreign_mps_daemon();
/// "none runs", "of this user, /tmp/nvidia-mps", "of user 1001 (process 1234)".
std::string describe_mps();

/// Lets the programs that this process starts use MPS, as long as it lives: this user's daemon, which it
/// leaves as it is, or one of its own, which ends with this process however that ends. Throws UsageError
/// where there is no MPS, or another user's.
class Mps {
  public:
    Mps();
    ~Mps();
    Mps(const Mps&) = delete;
    Mps& operator=(const Mps&) = delete;

  private:
    void start(const std::string& folder);

    common::Fd lifeline_;  ///< its guard sees the end of it
    common::Fd status_;    ///< the guard's words, until it has ended
};

/// `atoll mps-guard FOLDER`: starts a daemon in FOLDER, says "ok" or what is wrong on standard output, and
/// ends the daemon once standard input ends. Nobody's to call.
int mps_guard_command(const Arguments& arguments);

}  // namespace atl::cli
