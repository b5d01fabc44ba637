#include "cli/job/process_group.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace atl::cli {

void close_descriptors(unsigned first, unsigned last) {
#ifdef SYS_close_range
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; ++fd) close(static_cast<int>(fd));
}

namespace {

void close_all_but(int keep) {
    if (keep > 0) close_descriptors(0, static_cast<unsigned>(keep) - 1);
    close_descriptors(static_cast<unsigned>(keep) + 1);
}

// Keeps only the pipe open: a reader of our output must see its end when the job ends.
[[noreturn]] void guard(int pipe) {
    setpgid(0, 0);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    prctl(PR_SET_NAME, "atoll-guard");
    close_all_but(pipe);
    char unused;
    ssize_t result;
    do {
        result = read(pipe, &unused, 1);
    } while (result > 0 || (result < 0 && errno == EINTR));
    kill(-getpid(), SIGKILL);
    _exit(0);
}

void reap_children(int options) {
    while (waitpid(-1, nullptr, options) > 0) {
    }
}

}  // namespace

ProcessGroup::ProcessGroup(const sigset_t& signals, const rlimit& descriptors)
    : signals_(signals), descriptors_(descriptors), launcher_(getpid()) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    common::Fd read_end(ends[0]);
    guard_pipe_ = common::Fd(ends[1]);
    // Orphaned processes of PEs become our children, so that we can end them.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    guard_ = fork();
    if (guard_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (guard_ == 0) {
        close(ends[1]);
        guard(ends[0]);
    }
    setpgid(guard_, guard_);  // on both sides: the first PE may start before the guard has run
}

ProcessGroup::~ProcessGroup() { end(); }

// Runs after vfork: the memory is the launcher's, which is suspended. Nothing here may allocate or throw.
void ProcessGroup::become(const Program& program, char* const* arguments, const Child& child,
                          volatile int* failure) const {
    setpgid(0, guard_);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher_) _exit(1);  // the launcher died before the line above took effect
    if (child.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<unsigned>(child.cpu), &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    for (int i = 0; i < 3; ++i) {
        if (child.standard[i] >= 0) dup2(child.standard[i], i);
    }
    for (const int fd : child.inherited) fcntl(fd, F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &descriptors_);
    ::signal(SIGXFSZ, SIG_DFL);  // see run_command
    sigprocmask(SIG_SETMASK, &signals_, nullptr);
    execve(program.path.c_str(), arguments, const_cast<char* const*>(child.environment));
    *failure = errno;
    _exit(UsageError::not_found);
}

pid_t ProcessGroup::spawn(const Program& program, const Child& child) {
    std::vector<char*> arguments;
    for (const std::string& argument : program.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    volatile int failure = 0;
    const pid_t pid = vfork();
    if (pid == 0) become(program, arguments.data(), child, &failure);
    if (pid < 0) {
        throw std::system_error(errno, std::generic_category(), "cannot start another process");
    }
    if (failure == 0) return pid;
    waitpid(pid, nullptr, 0);
    std::string why = std::strerror(failure);
    if (failure == ENOEXEC)
        why = "it is neither a program of this machine nor begins with a line such as #!/bin/sh";
    if (failure == ENOENT) why = "its interpreter does not exist (see its first line)";
    throw UsageError(program.path + " cannot be executed: " + why, UsageError::not_executable);
}

void ProcessGroup::signal(int number) const {
    if (guard_ > 0) kill(-guard_, number);
}

void ProcessGroup::end() {
    if (guard_ < 0) return;
    signal(SIGKILL);
    const pid_t guard = guard_;
    guard_ = -1;
    waitpid(guard, nullptr, 0);
    reap_children(WNOHANG);
    // Processes that left the process group are our children by now, once their parents have died. A process
    // may be uninterruptible in the kernel, so the number of attempts is bounded.
    const std::string path = "/proc/self/task/" + std::to_string(syscall(SYS_gettid)) + "/children";
    for (int attempt = 0; attempt < 200; ++attempt) {
        std::ifstream children(path);
        bool any = false;
        for (pid_t pid; children >> pid;) {
            any = true;
            kill(pid, SIGKILL);
        }
        reap_children(WNOHANG);
        if (!any && waitpid(-1, nullptr, WNOHANG) < 0) return;
        usleep(attempt < 20 ? 500 : 5000);
    }
}

}  // namespace atl::cli
