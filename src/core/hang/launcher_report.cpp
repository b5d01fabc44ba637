#include "core/hang/launcher_report.hpp"

#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "common/descriptors/fd.hpp"

namespace atl::core {
namespace {

namespace fs = std::filesystem;

bool is_ours(const fs::path& program) {
    struct stat status {};
    return ::stat(program.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           (status.st_uid == 0 || status.st_uid == ::geteuid()) && ::access(program.c_str(), X_OK) == 0;
}

/// The launcher's program: in bin/ of the prefix that has the library in lib/, lib/ARCHITECTURE/ or
/// lib/pythonX/site-packages/atoll/lib/. Programs that contain the library are in bin/ themselves.
std::string launcher_path() {
    Dl_info self{};
    if (::dladdr(reinterpret_cast<const void*>(&report_by_launcher), &self) == 0 ||
        self.dli_fname == nullptr || self.dli_fname[0] != '/')
        return {};
    const fs::path folder = fs::path(self.dli_fname).parent_path();
    std::vector<fs::path> candidates{folder / "../bin/atoll", folder / "../../bin/atoll"};
    if (folder.filename() == "bin") candidates = {folder / "atoll"};
    if (folder.parent_path().filename() == "atoll") candidates = {folder / "../../../../../bin/atoll"};
    for (const fs::path& candidate : candidates)
        if (is_ours(candidate)) return candidate.lexically_normal().string();
    return {};
}

/// Forks without handlers of the program. The parent gets `end_signal` at the child's end.
long raw_fork(int end_signal) { return ::syscall(SYS_clone, end_signal, nullptr, nullptr, nullptr, nullptr); }

/// Calls async-signal-safe functions alone, since other threads may hold locks. `failed` is a pipe.
[[noreturn]] void become(char* const* arguments, int failed) {
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGCHLD, SIG_DFL);
    ::execv(arguments[0], arguments);
    [[maybe_unused]] const ssize_t written = ::write(failed, "x", 1);
    ::_exit(127);
}

/// Starts a program as a grandchild. The child between ends at once and without a signal, and no `wait` of
/// the program sees it.
bool start_detached(char* const* arguments) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    const common::Fd from(ends[0]);
    common::Fd to(ends[1]);
    const long between = raw_fork(0);
    if (between == 0) {
        const long child = raw_fork(SIGCHLD);
        if (child == 0) become(arguments, to.get());
        ::_exit(child > 0 ? 0 : 1);
    }
    if (between < 0) return false;
    int status = 0;
    while (::waitpid(static_cast<pid_t>(between), &status, __WALL) < 0 && errno == EINTR) {
    }
    to = common::Fd();
    char byte = 0;
    ssize_t got;
    while ((got = ::read(from.get(), &byte, 1)) < 0 && errno == EINTR) {
    }
    return status == 0 && got == 0;
}

}  // namespace

bool report_by_launcher(const std::string& heading, const std::string& board) noexcept {
    try {
        std::vector<std::string> words{launcher_path(), "stacks", "--report", heading, board};
        if (words[0].empty() || board.empty()) return false;
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        return start_detached(arguments.data());
    } catch (const std::exception&) {  // without memory
        return false;
    }
}

}  // namespace atl::core
