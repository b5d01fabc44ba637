// Describes how a process ended, as text.
#include <iterator>
#include <signal.h>
#include <sys/wait.h>

#include "cli/job/job.hpp"

namespace atl::cli {
namespace {

struct SignalName {
    int number;
    const char* name;
    const char* meaning;
};

// sigabbrev_np needs glibc 2.32; strsignal has no short names.
constexpr SignalName signal_names[] = {
    {SIGHUP, "SIGHUP", nullptr},
    {SIGINT, "SIGINT", nullptr},
    {SIGQUIT, "SIGQUIT", nullptr},
    {SIGILL, "SIGILL", "illegal instruction"},
    {SIGTRAP, "SIGTRAP", nullptr},
    {SIGABRT, "SIGABRT", "abort"},
    {SIGBUS, "SIGBUS", "bus error"},
    {SIGFPE, "SIGFPE", "arithmetic error"},
    {SIGKILL, "SIGKILL", nullptr},
    {SIGUSR1, "SIGUSR1", nullptr},
    {SIGSEGV, "SIGSEGV", "segmentation fault"},
    {SIGUSR2, "SIGUSR2", nullptr},
    {SIGPIPE, "SIGPIPE", "its output has no reader"},
    {SIGALRM, "SIGALRM", nullptr},
    {SIGTERM, "SIGTERM", nullptr},
    {SIGXCPU, "SIGXCPU", "limit of CPU time"},
    {SIGXFSZ, "SIGXFSZ", "limit of file size"},
    {SIGSYS, "SIGSYS", "forbidden system call"},
};

const SignalName* find_signal(int number) {
    for (const SignalName& signal : signal_names) {
        if (signal.number == number) return &signal;
    }
    return nullptr;
}

}  // namespace

std::string signal_name(int number) {
    const SignalName* known = find_signal(number);
    return known ? known->name : "signal " + std::to_string(number);
}

std::string describe_wait_status(int wait_status) {
    if (WIFSIGNALED(wait_status)) {
        const int number = WTERMSIG(wait_status);
        std::string text = "was killed by " + signal_name(number);
        const SignalName* known = find_signal(number);
        std::string detail = known && known->meaning ? known->meaning : "";
        if (WCOREDUMP(wait_status)) detail += std::string(detail.empty() ? "" : ", ") + "core dumped";
        return detail.empty() ? text : text + " (" + detail + ")";
    }
    const int status = WEXITSTATUS(wait_status);
    std::string text = "exited with status " + std::to_string(status);
    if (status > 128 && find_signal(status - 128))
        text += " (by which a shell means " + signal_name(status - 128) + ")";
    return text;
}

int shell_status(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace atl::cli
