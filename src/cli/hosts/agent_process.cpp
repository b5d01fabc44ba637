#include "cli/hosts/agent_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cli/command/command.hpp"
#include "common/text.hpp"

namespace atl::cli {
namespace {

/// Quotes a text as one word for a remote shell.
std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
    return result + "'";
}

std::pair<common::Fd, common::Fd> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    return {common::Fd(ends[0]), common::Fd(ends[1])};
}

/// A separate process group: the launcher itself passes on Ctrl-C of the terminal.
pid_t spawn(const Arguments& command, int in, int out, int err) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_adddup2(&files, in, 0);
    ::posix_spawn_file_actions_adddup2(&files, out, 1);
    ::posix_spawn_file_actions_adddup2(&files, err, 2);
    sigset_t none;
    ::sigemptyset(&none);
    sigset_t pipes = none;
    ::sigaddset(&pipes, SIGPIPE);
    ::sigaddset(&pipes, SIGXFSZ);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &pipes);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int error = ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0)
        throw UsageError("the agent " + command[0] + " cannot be started: " + std::strerror(error) +
                             " (--agent or ATOLL_AGENT name another; ssh is the default)",
                         error == ENOENT ? UsageError::not_found : UsageError::not_executable);
    return pid;
}

}  // namespace

void Agent::tell(const std::string& frame) const {
    for (std::size_t done = 0; done < frame.size();) {
        const ssize_t sent = ::write(orders.get(), frame.data() + done, frame.size() - done);
        if (sent < 0 && errno != EINTR) return;
        if (sent > 0) done += static_cast<std::size_t>(sent);
    }
}

void Agent::end() {
    orders = common::Fd();
    ::kill(-pid, ending ? SIGKILL : SIGTERM);
    ending = true;
}

AgentOutput start_agent(Agent& agent, const std::string& program) {
    Arguments command = common::words_of(program);
    if (command.empty()) command = {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"};
    command.push_back(agent.host.name);
    command.push_back(quoted(executable_folder() + "/atoll") + " agent");
    auto [in_read, in_write] = make_pipe();
    auto [out_read, out_write] = make_pipe();
    auto [err_read, err_write] = make_pipe();
    agent.pid = spawn(command, in_read.get(), out_write.get(), err_write.get());
    agent.orders = std::move(in_write);
    return {std::move(out_read), std::move(err_read)};
}

}  // namespace atl::cli
