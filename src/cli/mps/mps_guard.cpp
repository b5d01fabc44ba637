// The guard of a job's own MPS. It is a process in a separate session, so that neither Ctrl-C nor the
// launcher's end kills it.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

#include "cli/mps/mps.hpp"
#include "cli/mps/mps_control.hpp"
#include "common/clock.hpp"
#include "common/log.hpp"

namespace atl::cli {
namespace {

constexpr double start_seconds = 20;
/// `quit` waits for clients; those of an ended job are about to end.
constexpr double quit_seconds = 15;
constexpr double last_seconds = 5;

void pause_ms(long ms) {
    const timespec t{0, ms * 1'000'000};
    ::nanosleep(&t, nullptr);
}

bool within(std::uint64_t since_ns, double seconds) {
    return static_cast<double>(common::now_ns() - since_ns) < seconds * 1e9;
}

/// Sends the text with its final 0, which marks its end for the launcher.
void say_to_launcher(const std::string& text) {
    const ssize_t sent = ::write(STDOUT_FILENO, text.c_str(), text.size() + 1);
    static_cast<void>(sent);  // a launcher that is gone needs no answer
}

/// True once all processes of the daemon have ended. They are children of this process by then.
bool all_ended(double seconds) {
    const std::uint64_t since = common::now_ns();
    do {
        pid_t ended = 0;
        while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
        }
        if (ended < 0 && errno == ECHILD) return true;
        pause_ms(5);
    } while (within(since, seconds));
    return false;
}

void kill_children(int signal_number) {
    const std::string self = std::to_string(::getpid());
    std::ifstream file("/proc/" + self + "/task/" + self + "/children");
    for (pid_t child; file >> child;) ::kill(child, signal_number);
}

/// Starts the daemon. An empty text means that it answers.
std::string start_daemon(const std::string& pipe, const std::string& log) {
    for (const std::string& folder : {pipe, log})
        if (::mkdir(folder.c_str(), 0700) != 0) return folder + ": " + common::errno_text(errno);
    const MpsAnswer started = ask_mps_control({"-d"}, "", start_seconds, pipe, log);
    if (started.status != 0) return started.text.empty() ? "it fails without a word" : started.text;
    const std::uint64_t since = common::now_ns();
    MpsAnswer answer;
    do {
        answer = ask_mps_control({}, "get_server_list\n", start_seconds, pipe, log);
        if (answer.status == 0) return {};
        pause_ms(20);
    } while (within(since, start_seconds));
    return answer.text.empty() ? "its daemon does not answer" : answer.text;
}

void end_daemon(const std::string& pipe, const std::string& log) {
    if (ask_mps_control({}, "quit\n", quit_seconds, pipe, log).status == 0 && all_ended(last_seconds)) return;
    for (const int signal_number : {SIGTERM, SIGKILL}) {
        kill_children(signal_number);
        if (all_ended(last_seconds)) return;
    }
}

}  // namespace

int mps_guard_command(const Arguments& arguments) {
    if (arguments.size() != 1) throw UsageError("this command is started by `atoll run --mps`");
    if (::fork() != 0) ::_exit(0);  // not a child of the launcher, which ends all of its children
    ::setsid();
    // The daemon would inherit and keep open the descriptors that this process inherited.
    for (int fd = STDERR_FILENO + 1, most = static_cast<int>(::sysconf(_SC_OPEN_MAX));
         fd < std::min(most, 4096); ++fd)
        ::close(fd);
    // Handled rather than ignored, because the daemon would inherit ignored signals.
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, [](int) {});
    ::signal(SIGCHLD, SIG_DFL);
    ::prctl(PR_SET_NAME, "atoll-mps");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // a daemon detaches from the process that started it
    const std::string& folder = arguments[0];
    const std::string pipe = folder + "/pipe", log = folder + "/log";
    const std::string wrong = start_daemon(pipe, log);
    say_to_launcher(wrong.empty() ? "ok" : wrong);
    char unused;
    ssize_t got = 0;
    while (wrong.empty() && ((got = ::read(STDIN_FILENO, &unused, 1)) > 0 || (got < 0 && errno == EINTR))) {
    }
    end_daemon(pipe, log);
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    return 0;
}

}  // namespace atl::cli
