// The processes of a job: started fast, signalled together, and never left behind.
#pragma once

#include <signal.h>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "cli/program.hpp"
#include "common/fd.hpp"

namespace atl::cli {

/// What one PE's process gets besides the program.
struct Child {
    int standard[3] = {-1, -1, -1};  ///< stdin, stdout, stderr; -1: the launcher's own
    std::vector<int> inherited;      ///< descriptors that stay open under their numbers
    const char* const* environment = nullptr;
    int cpu = -1;  ///< -1: any
};

/// All processes are in one process group, led by a guard: a process that does nothing but kill the group
/// when the launcher is gone, however it went. Leading the group, it keeps its number from being given to
/// anybody else.
class ProcessGroup {
  public:
    /// `signals` is what children shall have as signal mask, `descriptors` as RLIMIT_NOFILE.
    ProcessGroup(const sigset_t& signals, const rlimit& descriptors);
    /// Ends whatever is left.
    ~ProcessGroup();
    ProcessGroup(const ProcessGroup&) = delete;
    ProcessGroup& operator=(const ProcessGroup&) = delete;

    /// Throws UsageError when the program cannot be executed.
    pid_t spawn(const Program& program, const Child& child);
    void signal(int number) const;
    bool is_guard(pid_t pid) const { return pid == guard_; }
    /// SIGKILL to all that is left, descendants in process groups of their own too, and reaps them.
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
