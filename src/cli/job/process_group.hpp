// The processes of a job: started, signalled and ended together.
#pragma once

#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "cli/command/program.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {

/// Closes the open ones of these descriptors.
void close_descriptors(unsigned first, unsigned last = ~0U);

/// The descriptors and variables of one PE's process.
struct Child {
    int standard[3] = {-1, -1, -1};  ///< stdin, stdout, stderr; -1: the launcher's own
    std::vector<int> inherited;      ///< descriptors that stay open under their numbers
    const char* const* environment = nullptr;
    int cpu = -1;  ///< -1: any
};

/// A process group for all PEs, led by a guard process. The guard kills the group when the launcher has ended
/// for any reason. While it leads the group, the group's number is not given to another process.
class ProcessGroup {
  public:
    /// `signals` becomes the signal mask of children, `descriptors` their RLIMIT_NOFILE.
    ProcessGroup(const sigset_t& signals, const rlimit& descriptors);
    /// Ends all remaining processes.
    ~ProcessGroup();
    ProcessGroup(const ProcessGroup&) = delete;
    ProcessGroup& operator=(const ProcessGroup&) = delete;

    /// Throws UsageError when the program cannot be executed.
    pid_t spawn(const Program& program, const Child& child);
    void signal(int number) const;
    bool is_guard(pid_t pid) const { return pid == guard_; }
    /// Kills and reaps all remaining processes, including descendants in other process groups.
    void end();

  private:
    [[noreturn]] void become(const Program& program, char* const* arguments, const Child& child,
                             volatile int* failure) const;

    sigset_t signals_;
    rlimit descriptors_;
    pid_t launcher_;
    pid_t guard_ = -1;
    common::Fd guard_pipe_;  ///< the guard reads its other end: end of file means that the launcher is gone
};

}  // namespace atl::cli
