#include "core/hang/launcher_report.hpp"

#include <cerrno>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace atl::core {
namespace {

namespace fs = std::filesystem;

/// The launcher's program. It is in bin/ of a prefix that has the library in lib/ or lib/ARCHITECTURE/, or in
/// lib/pythonX/site-packages/atoll/lib/. Programs that contain the library are in bin/ themselves, or beside
/// it.
std::string launcher_path() {
    constexpr int most_levels = 6;
    Dl_info self{};
    if (::dladdr(reinterpret_cast<const void*>(&report_by_launcher), &self) == 0 || self.dli_fname == nullptr)
        return {};
    fs::path folder = fs::absolute(self.dli_fname).parent_path();
    for (int level = 0; level < most_levels && folder.has_relative_path(); ++level) {
        const fs::path program = folder / "bin/atoll";
        if (::access(program.c_str(), X_OK) == 0 && fs::is_regular_file(program)) return program.string();
        folder = folder.parent_path();
    }
    return {};
}

bool succeeds(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return true;  // the program has a handler that has taken the status
    return status == 0;
}

}  // namespace

bool report_by_launcher(const std::string& heading) noexcept {
    try {
        std::vector<std::string> words{launcher_path(), "stacks", "--report", heading,
                                       std::to_string(::getpid())};
        if (words[0].empty()) return false;
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        pid_t child = 0;
        return ::posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) == 0 &&
               succeeds(child);
    } catch (const std::exception&) {  // without memory
        return false;
    }
}

}  // namespace atl::core
