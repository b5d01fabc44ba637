#include "cli/debug/panes.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <poll.h>
#include <random>
#include <spawn.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <termios.h>
#include <unistd.h>

#include "common/descriptors/fd_passing.hpp"
#include "common/descriptors/local_socket.hpp"

namespace atl::cli {
namespace {

constexpr int most_wait_ms = 30'000;  // for a pane to open; a busy machine needs some of it

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

[[noreturn]] void fail_without_tmux() {
    throw UsageError("--tmux needs tmux, which is not in PATH (on Debian: apt-get install tmux)",
                     UsageError::not_found);
}

/// Runs tmux to its end; returns false if it failed.
bool tmux(const Arguments& arguments) {
    std::string name = "tmux";
    std::vector<char*> words{name.data()};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    pid_t pid = -1;
    if (posix_spawnp(&pid, "tmux", nullptr, nullptr, words.data(), environ) != 0) fail_without_tmux();
    int status = 1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0;
}

/// Opens the window and its panes; each pane's process connects to the socket.
void open_window(const std::string& socket, int n_pes) {
    const std::string window = "atoll-" + std::to_string(getpid()), target = ":=" + window;
    for (int pe = 0; pe < n_pes; ++pe) {
        const Arguments pane{executable(), "pane", socket, std::to_string(pe)};
        Arguments words =
            pe == 0 ? Arguments{"new-window", "-n", window} : Arguments{"split-window", "-t", target};
        words.insert(words.end(), pane.begin(), pane.end());
        if (!tmux(words))
            throw UsageError("--tmux: tmux opened no pane for PE " + std::to_string(pe) + " of " +
                             std::to_string(n_pes) + "; enlarge its window, or start fewer PEs");
        tmux({"select-layout", "-t", target, "tiled"});
    }
    tmux({"set-option", "-w", "-t", target, "pane-border-status", "top"});
}

}  // namespace

Panes::Panes(int n_pes) : panes_(static_cast<std::size_t>(n_pes)) {
    const common::Fd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const std::string name =
        "atoll-panes-" + std::to_string(getpid()) + "-" + std::to_string(std::random_device{}());
    const common::LocalAddress address(name);
    if (!listener || bind(listener.get(), address.get(), address.size()) != 0 ||
        listen(listener.get(), n_pes) != 0)
        fail("--tmux: cannot make a socket");
    open_window(name, n_pes);
    for (int pe = 0; pe < n_pes; ++pe) take_pane(listener.get());
}

/// Accepts the next pane, which sends its PE and its terminal.
void Panes::take_pane(int listener) {
    for (;;) {
        pollfd ready{listener, POLLIN, 0};
        if (poll(&ready, 1, most_wait_ms) != 1)
            throw UsageError("--tmux: a pane ended before its PE started", 1);
        common::Fd socket(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
        if (!socket || common::user_of(socket.get()) != geteuid()) continue;
        std::uint32_t pe = 0;
        std::vector<common::Fd> sent;
        if (common::receive_with_fds(socket.get(), &pe, sizeof pe, sent) != sizeof pe || sent.size() != 1 ||
            pe >= panes_.size())
            continue;
        panes_[pe] = {std::move(socket), std::move(sent[0])};
        return;
    }
}

void Panes::started(int pe, pid_t pid) const {
    const std::int64_t number = pid;
    if (send(panes_[static_cast<std::size_t>(pe)].socket.get(), &number, sizeof number, MSG_NOSIGNAL) < 0)
        return;  // the pane was closed, and the PE's terminal with it
}

void enter_tmux(const Arguments& arguments) {
    if (std::getenv("TMUX") != nullptr) return;
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)
        throw UsageError("--tmux needs a terminal as standard input and output");
    // A new tmux server inherits this environment. A running one would start PEs with an older one.
    Arguments words{
        "tmux",
        "-L",
        "atoll-" + std::to_string(getpid()),
        "new-session",
        "sh",
        "-c",
        R"("$@"; printf '\natoll run ended with status %s; Enter closes tmux ' $?; read -r line; tmux kill-server)",
        "sh",
        executable(),
        "run"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp("tmux", pointers.data());
    fail_without_tmux();
}

int pane_command(const Arguments& arguments) {
    if (arguments.size() != 2) throw UsageError("atoll pane is internal: use atoll run --tmux");
    const std::uint32_t pe = static_cast<std::uint32_t>(std::atoi(arguments[1].c_str()));
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const int number : {SIGINT, SIGQUIT, SIGTSTP}) sigaddset(&blocked, number);
    sigprocmask(SIG_BLOCK, &blocked, nullptr);
    const common::Fd signals(signalfd(-1, &blocked, SFD_CLOEXEC));
    termios before{};
    tcgetattr(STDIN_FILENO, &before);
    std::printf("\033]2;PE %u\033\\", pe);  // the title of the pane
    std::fflush(stdout);

    const common::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const common::LocalAddress address(arguments[0]);
    const int terminal = STDIN_FILENO;
    if (!socket || connect(socket.get(), address.get(), address.size()) != 0 ||
        common::user_of(socket.get()) != geteuid() ||
        common::send_with_fds(socket.get(), &pe, sizeof pe, std::span(&terminal, 1)) != sizeof pe)
        fail("cannot reach atoll run");

    std::int64_t pid = 0;
    for (;;) {
        pollfd ready[] = {{socket.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR) fail("poll");
        signalfd_siginfo info{};
        if (ready[1].revents != 0 && read(signals.get(), &info, sizeof info) == sizeof info &&
            info.ssi_signo == SIGINT && pid > 0)
            kill(static_cast<pid_t>(pid), SIGINT);
        std::int64_t sent = 0;
        if (ready[0].revents == 0) continue;
        if (recv(socket.get(), &sent, sizeof sent, 0) != sizeof sent) break;
        pid = sent;
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    std::printf("\n[PE %u has ended: Enter closes this pane] ", pe);
    std::fflush(stdout);
    sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
    while (true) {
        const int c = std::getchar();
        if (c == '\n' || c == EOF) return 0;
    }
}

}  // namespace atl::cli
