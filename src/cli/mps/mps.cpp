#include "cli/mps/mps.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "cli/mps/mps_control.hpp"
#include "common/log.hpp"

namespace atl::cli {
namespace {

constexpr const char* pipe_variable = "CUDA_MPS_PIPE_DIRECTORY";
constexpr const char* usual_folder = "/tmp/nvidia-mps";
constexpr double answer_seconds = 10;
constexpr const char* queues_variable = "CUDA_DEVICE_MAX_CONNECTIONS";
/// Work queues of all PEs together: docs/measurements/2026-11-26-2xH200.md.
constexpr int work_queues = 32;
/// Longer than the guard takes to end a daemon.
constexpr int end_ms = 40'000;

std::string pipe_folder() {
    const char* named = std::getenv(pipe_variable);
    return named && *named ? named : usual_folder;
}

bool answers(const std::string& folder) {
    return ask_mps_control({}, "get_server_list\n", answer_seconds, folder).status == 0;
}

bool is_in_path(const std::string& program) {
    const char* path = std::getenv("PATH");
    const std::string folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
    for (std::size_t at = 0; at <= folders.size();) {
        const std::size_t end = std::min(folders.find(':', at), folders.size());
        const std::string file = folders.substr(at, end - at) + "/" + program;
        if (end > at && ::access(file.c_str(), X_OK) == 0) return true;
        at = end + 1;
    }
    return false;
}

std::string first_line_of(const std::filesystem::path& file) {
    std::string line;
    std::getline(std::ifstream(file), line);
    return line;
}

bool is_control_daemon(const std::filesystem::path& process) {
    // The kernel keeps 15 characters of "nvidia-cuda-mps-control" and "nvidia-cuda-mps-server".
    if (first_line_of(process / "comm") != "nvidia-cuda-mps") return false;
    return first_line_of(process / "cmdline").find("mps-server") == std::string::npos;
}

/// A variable of another process; empty if unset, or if this user may not read it.
std::string variable_of(const std::filesystem::path& process, const std::string& name) {
    std::ifstream file(process / "environ", std::ios::binary);
    for (std::string entry; std::getline(file, entry, '\0');)
        if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
    return {};
}

/// The control daemons among the visible processes.
std::vector<MpsDaemon> running_daemons() {
    std::vector<MpsDaemon> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string name = entry.path().filename().string();
        struct stat status {};
        if (name.find_first_not_of("0123456789") != std::string::npos || !is_control_daemon(entry.path()) ||
            ::stat(entry.path().c_str(), &status) != 0)
            continue;
        const std::string folder = variable_of(entry.path(), pipe_variable);
        found.push_back({status.st_uid, static_cast<pid_t>(std::atoi(name.c_str())),
                         folder.empty() ? usual_folder : folder});
    }
    return found;
}

/// True if the folder is that of a daemon that ended without `quit`: it leaves its pipes and its process
/// number behind.
bool is_left_behind(const std::string& folder) {
    const int pid = std::atoi(first_line_of(folder + "/nvidia-cuda-mps-control.pid").c_str());
    return pid > 0 && !is_control_daemon("/proc/" + std::to_string(pid));
}

/// Makes a private folder for pipes and logs.
std::string make_folder() {
    const char* named = std::getenv("TMPDIR");
    std::string folder = std::string(named && *named ? named : "/tmp") + "/atoll-mps-XXXXXX";
    if (!::mkdtemp(folder.data()))
        throw UsageError("--mps: cannot make a folder for MPS's pipes in " +
                         folder.substr(0, folder.rfind('/')) + ": " + common::errno_text(errno));
    return folder;
}

std::string end_of(const std::string& reason) {
    return reason.empty() ? "it does not say why" : reason.substr(reason.rfind('\n') + 1);
}

}  // namespace

std::optional<MpsDaemon> own_mps_daemon() {
    if (answers(pipe_folder())) return MpsDaemon{::geteuid(), -1, pipe_folder()};
    if (std::getenv(pipe_variable)) return std::nullopt;
    for (const MpsDaemon& daemon : running_daemons())
        if (daemon.owner == ::geteuid() && answers(daemon.folder)) return daemon;
    return std::nullopt;
}

std::optional<MpsDaemon> foreign_mps_daemon() {
    struct stat status {};
    const std::string folder = pipe_folder();
    if (::stat((folder + "/control").c_str(), &status) == 0 && status.st_uid != ::geteuid() &&
        !is_left_behind(folder))
        return MpsDaemon{status.st_uid, -1, folder};
    for (const MpsDaemon& daemon : running_daemons())
        if (daemon.owner != ::geteuid()) return daemon;
    return std::nullopt;
}

namespace {

std::string foreign_text(const MpsDaemon& daemon) {
    return "user " + std::to_string(daemon.owner) + " (" +
           (daemon.pid > 0 ? "process " + std::to_string(daemon.pid) : daemon.folder) + ")";
}

}  // namespace

std::string describe_mps() {
    if (const auto daemon = foreign_mps_daemon()) return "of " + foreign_text(*daemon);
    if (!is_in_path("nvidia-cuda-mps-control")) return "nvidia-cuda-mps-control not found";
    if (const auto daemon = own_mps_daemon()) return "of this user, " + daemon->folder;
    return "none runs (atoll run --mps starts one)";
}

Mps::Mps(int n_pes) {
    if (!is_in_path("nvidia-cuda-mps-control"))
        throw UsageError(
            "--mps needs nvidia-cuda-mps-control, which is not in PATH; it comes with NVIDIA's driver");
    std::string folder;
    if (const auto daemon = own_mps_daemon()) {
        folder = daemon->folder;
    } else if (const auto foreign = foreign_mps_daemon()) {
        throw UsageError(
            "--mps: an MPS of " + foreign_text(*foreign) +
            " runs here, and one GPU is not for two of them. Ask that user to end it, or start the "
            "job without --mps. If that MPS serves other GPUs, set CUDA_MPS_PIPE_DIRECTORY to a folder of "
            "yours "
            "and start nvidia-cuda-mps-control -d");
    } else {
        const std::string own = make_folder();
        start(own);
        folder = own + "/pipe";
    }
    ::setenv(pipe_variable, folder.c_str(), 1);
    ::setenv(queues_variable, std::to_string(std::clamp(work_queues / n_pes, 2, 8)).c_str(), 0);
}

/// Starts a daemon through the guard, a process that outlives this one until the daemon has ended.
void Mps::start(const std::string& folder) {
    int orders[2], words[2];
    if (::pipe2(orders, O_CLOEXEC) != 0) throw UsageError("--mps: " + common::errno_text(errno));
    common::Fd its_input(orders[0]);
    lifeline_ = common::Fd(orders[1]);
    if (::pipe2(words, O_CLOEXEC) != 0) throw UsageError("--mps: " + common::errno_text(errno));
    status_ = common::Fd(words[0]);
    common::Fd its_output(words[1]);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, its_input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, its_output.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::string name = "atoll", command = "mps-guard", where = folder;
    char* arguments[] = {name.data(), command.data(), where.data(), nullptr};
    pid_t pid = -1;
    const int failed = ::posix_spawn(&pid, "/proc/self/exe", &files, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    its_input = common::Fd();
    its_output = common::Fd();
    if (failed != 0) {
        std::filesystem::remove(folder);
        throw UsageError("--mps: cannot start its guard: " + common::errno_text(failed));
    }
    ::waitpid(pid, nullptr, 0);  // the guard goes on as a child of another process
    std::string answer;
    char bytes[512];
    while (answer.find('\0') == std::string::npos) {
        const ssize_t got = ::read(status_.get(), bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        answer.append(bytes, static_cast<std::size_t>(got));
    }
    const std::string text = answer.substr(0, answer.find('\0'));
    if (text == "ok") return;
    throw UsageError("--mps: nvidia-cuda-mps-control does not start: " + end_of(text));
}

Mps::~Mps() {
    if (!lifeline_) return;
    lifeline_ = common::Fd();
    char unused[64];
    pollfd end{status_.get(), POLLIN, 0};
    while (::poll(&end, 1, end_ms) > 0 && ::read(status_.get(), unused, sizeof unused) > 0) {
    }
}

}  // namespace atl::cli
