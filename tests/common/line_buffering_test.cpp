#include "common/line_buffering.hpp"

#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace atl::common {
namespace {

/// Returns the output of a process that prints and is killed before it can flush.
std::string output_of_killed(void (*before)()) {
    int ends[2];
    if (::pipe(ends) != 0) return "no pipe";
    std::fflush(stdout);  // the child has a copy of what is still buffered
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::dup2(ends[1], 1);
        std::setvbuf(stdout, nullptr, _IOFBF, BUFSIZ);  // another test may have changed it
        before();
        std::fputs("a line\nunfinished", stdout);
        ::kill(::getpid(), SIGKILL);  // sanitizers flush in _exit
    }
    ::close(ends[1]);
    std::string seen;
    char part[64];
    for (ssize_t got; (got = ::read(ends[0], part, sizeof part)) > 0;)
        seen.append(part, static_cast<std::size_t>(got));
    ::close(ends[0]);
    ::waitpid(pid, nullptr, 0);
    return seen;
}

TEST(LineBuffering, LinesLeaveWhenTheyArePrinted) {
    EXPECT_EQ(output_of_killed([] {}), "");
    EXPECT_EQ(output_of_killed(flush_by_line), "a line\n");
}

TEST(LineBuffering, UnbufferedStaysUnbuffered) {
    EXPECT_EQ(output_of_killed([] {
                  std::setvbuf(stdout, nullptr, _IONBF, 0);
                  flush_by_line();
              }),
              "a line\nunfinished");
}

}  // namespace
}  // namespace atl::common
