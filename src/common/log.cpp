#include "common/log.hpp"

#include <unistd.h>

#include <cstring>

namespace atl::common {

static void write_line(const std::string& line) {
    for (std::size_t done = 0; done < line.size();) {
        const ssize_t n = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
        if (n <= 0) return;
        done += static_cast<std::size_t>(n);
    }
}

void warn(const std::string& sentence) { write_line("atoll: warning: " + sentence + "\n"); }
void say(const std::string& sentence) { write_line("atoll: " + sentence + "\n"); }

std::string errno_text(int error) {
    char buffer[128];
    return ::strerror_r(error, buffer, sizeof buffer);
}

}  // namespace atl::common
