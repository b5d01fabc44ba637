#include "common/line_buffering.hpp"

#include <cstdio>
#include <stdio_ext.h>
#include <sys/stat.h>

namespace atl::common {

void flush_by_line() {
    struct stat status {};
    if (::fstat(::fileno(stdout), &status) != 0 || !S_ISFIFO(status.st_mode)) return;
    constexpr std::size_t unbuffered = 1;
    if (::__fbufsize(stdout) != unbuffered) ::setvbuf(stdout, nullptr, _IOLBF, 0);
}

}  // namespace atl::common
