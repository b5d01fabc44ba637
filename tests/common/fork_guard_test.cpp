// Descriptors of which a forked child has no copy, even if threads open and close them meanwhile.
#include "common/descriptors/fork_guard.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

namespace atl::common {
namespace {

/// True if the other end of a pipe sees that the guarded one is closed.
bool is_seen_to_close() {
    int ends[2] = {-1, -1};
    auto guarded = ProcessFd::made_by([&] {
        static_cast<void>(!::pipe2(ends, O_CLOEXEC));
        return Fd(ends[1]);
    });
    const Fd other(ends[0]);
    guarded.close();
    pollfd end{other.get(), 0, 0};
    constexpr int patience_ms = 10'000;  // a child that was just forked gives its copy up in a moment
    return ::poll(&end, 1, patience_ms) == 1 && (end.revents & POLLHUP) != 0;
}

TEST(ForkGuard, ChildrenKeepNothingOpen) {
    ASSERT_TRUE(is_seen_to_close());
    std::atomic<bool> done = false;
    std::atomic<int> opened = 0, kept = 0;
    std::thread opens([&] {
        for (; !done && kept == 0; ++opened) kept += !is_seen_to_close();
    });
    // Waits until the thread runs. Otherwise a busy machine may start it only after all forks.
    while (opened == 0 && kept == 0) std::this_thread::yield();
    constexpr int n_children = 50;
    std::vector<pid_t> children;
    for (int i = 0; i < n_children; ++i) {
        const pid_t child = ::fork();
        if (child == 0)
            for (::alarm(60);;) ::pause();
        children.push_back(child);
        std::this_thread::yield();
    }
    done = true;
    opens.join();
    for (const pid_t child : children) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    EXPECT_GT(opened, 0);
    EXPECT_EQ(kept, 0) << "after " << opened;
}

TEST(ForkGuard, AChildFindsNothingUnderTheNumber) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd read_end(ends[0]);
    const ProcessFd write_end{Fd(ends[1])};
    const pid_t child = ::fork();
    if (child == 0) ::_exit(::write(ends[1], "x", 1) == 1 ? 1 : 0);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_EQ(::write(write_end.get(), "x", 1), 1);
}

}  // namespace
}  // namespace atl::common
