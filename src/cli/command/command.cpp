#include "cli/command/command.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace atl::cli {

void check_stdout() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw std::runtime_error(std::string("The output is incomplete, for stdout cannot be written: ") +
                             std::strerror(errno));
}

void set_variable(const std::string& entry) {
    const std::size_t sign = entry.find('=');
    setenv(entry.substr(0, sign).c_str(), entry.substr(sign + 1).c_str(), 1);
}

std::string executable() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return {path, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

std::string executable_folder() {
    const std::string whole = executable();
    return whole.empty() ? "." : whole.substr(0, whole.find_last_of('/'));
}

}  // namespace atl::cli
