#include "cli/command/command.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace atl::cli {

void check_stdout() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    throw std::runtime_error(std::string("The output is incomplete, for stdout cannot be written: ") +
                             std::strerror(errno));
}

std::string executable_folder() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return ".";
    const std::string whole(path, static_cast<std::size_t>(length));
    return whole.substr(0, whole.find_last_of('/'));
}

}  // namespace atl::cli
