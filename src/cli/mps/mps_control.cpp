#include "cli/mps/mps_control.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "cli/command/memory_file.hpp"
#include "common/clock.hpp"
#include "common/descriptors/fd.hpp"

namespace atl::cli {
namespace {

constexpr const char* program = "nvidia-cuda-mps-control";

/// A file rather than a pipe: a daemon that the program leaves behind may keep it open.
common::Fd file_for_daemon(const std::string& content = {}) { return memory_file("atoll-mps", content); }

std::string content_of(const common::Fd& file) {
    std::string text;
    char bytes[4096];
    for (ssize_t got; (got = ::pread(file.get(), bytes, sizeof bytes, static_cast<off_t>(text.size()))) > 0;)
        text.append(bytes, static_cast<std::size_t>(got));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// Returns this process's environment with MPS's variables set to these folders. An empty folder changes
/// nothing.
Arguments environment_with(const std::string& folder, const std::string& log_folder) {
    Arguments entries;
    for (char** entry = environ; *entry; ++entry) {
        const std::string text(*entry);
        if (!folder.empty() && text.starts_with("CUDA_MPS_PIPE_DIRECTORY=")) continue;
        if (!log_folder.empty() && text.starts_with("CUDA_MPS_LOG_DIRECTORY=")) continue;
        entries.push_back(text);
    }
    if (!folder.empty()) entries.push_back("CUDA_MPS_PIPE_DIRECTORY=" + folder);
    if (!log_folder.empty()) entries.push_back("CUDA_MPS_LOG_DIRECTORY=" + log_folder);
    return entries;
}

std::vector<char*> pointers_to(Arguments& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Waits for the process and returns its exit status; -1 if it was killed by a signal or after `seconds`.
int wait_for(pid_t pid, double seconds) {
    const std::uint64_t latest = common::now_ns() + static_cast<std::uint64_t>(seconds * 1e9);
    int status = 0;
    for (;;) {
        const pid_t ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (ended < 0 && errno != EINTR) return -1;
        if (common::now_ns() > latest) break;
        const timespec pause{0, 2'000'000};
        ::nanosleep(&pause, nullptr);
    }
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return -1;
}

}  // namespace

MpsAnswer ask_mps_control(const Arguments& arguments, const std::string& input, double seconds,
                          const std::string& folder, const std::string& log_folder) {
    const common::Fd in = file_for_daemon(input), out = file_for_daemon();
    if (!in || !out) return {};
    Arguments words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Arguments environment = environment_with(folder, log_folder);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.get(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.get(), STDERR_FILENO);
    pid_t pid = -1;
    const int failed = ::posix_spawnp(&pid, program, &files, nullptr, pointers_to(words).data(),
                                      pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&files);
    if (failed != 0) return {};
    const int status = wait_for(pid, seconds);
    return {status, content_of(out)};
}

}  // namespace atl::cli
