#include "common/recorder/stack_area.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// The thread sanitizer's runtime calls handlers later, and holds no lock of malloc.
#if !defined(__SANITIZE_THREAD__) && defined(__x86_64__)

extern "C" void __register_frame(void*);  // the unwinder has it for code that was compiled at run time

namespace atl::common {
namespace {

/// An unwind table for one function, which lies at `code`.
struct [[gnu::packed]] Table {
    std::uint32_t common_length = 20, common_id = 0;
    std::uint8_t common[16] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1, 0, 0};
    std::uint32_t length = 28, distance = 28;
    std::uint64_t begin, size = 16;
    std::uint8_t rest[8] = {};
    std::uint32_t end = 0;
    explicit Table(const void* code) : begin(reinterpret_cast<std::uintptr_t>(code)) {}
};

/// Registers code and allocates, until a timer's signal was answered often. backtrace() in the handler would
/// wait for malloc's lock, which the interrupted thread holds.
[[noreturn]] void answer_within_malloc() {
    ::alarm(120);  // ends a process that hangs
    static StackArea area;
    offer_stacks(area);
    std::thread([] { ::pause(); }).detach();  // without a second thread malloc takes no lock
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = area.signal.load();
    timer_t timer{};
    const itimerspec often{{0, 1'000'000}, {0, 1'000'000}};
    if (::timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) != 0 ||
        ::timer_settime(timer, 0, &often, nullptr) != 0)
        ::_exit(2);
    static char code[1 << 20];
    for (std::size_t round = 0; area.answers.load() < 60; ++round) {
        if (round < sizeof code / 16) __register_frame(new Table(code + 16 * round));
        for (std::size_t i = 0; i < 200; ++i) {
            void* const longer = std::malloc(5000 + 16 * i);
            std::free(std::malloc(3000 + 16 * i));
            std::free(longer);
        }
    }
    ::_exit(0);
}

TEST(StackArea, AThreadWithinMallocAnswers) {
    const pid_t child = ::fork();
    if (child == 0) answer_within_malloc();
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace atl::common

#endif
