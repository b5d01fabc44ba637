#include "common/elf/stack_walk.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <vector>

// Runtimes of the thread sanitizer call a handler later, and with a copy of the context.
#if !defined(__SANITIZE_THREAD__)

namespace atl::common {
namespace {

/// The stack by walk_stack and by the C library, at one interruption.
struct Sample {
    std::array<std::uintptr_t, 128> ours;
    std::array<void*, 128> theirs;
    std::size_t n_ours = 0, n_theirs = 0;

    void take(const void* context) {
        n_ours = walk_stack(context, ours.data(), ours.size());
        n_theirs = static_cast<std::size_t>(::backtrace(theirs.data(), static_cast<int>(theirs.size())));
    }
    /// Theirs begins with the frames of the handler.
    std::vector<std::uintptr_t> expected() const {
        std::vector<std::uintptr_t> all;
        for (std::size_t i = 0; i < n_theirs; ++i) all.push_back(reinterpret_cast<std::uintptr_t>(theirs[i]));
        return {std::find(all.begin(), all.end(), ours[0]), all.end()};
    }
    std::vector<std::uintptr_t> walked() const { return {ours.begin(), ours.begin() + n_ours}; }
};

Sample last;
std::vector<Sample> samples;
std::atomic<std::size_t> n_samples{0};

void with_handler(int number, void (*handler)(int, siginfo_t*, void*), int flags,
                  const std::function<void()>& call) {
    struct sigaction ours {
    }, before{};
    ours.sa_sigaction = handler;
    ours.sa_flags = SA_SIGINFO | flags;
    ::sigemptyset(&ours.sa_mask);
    ASSERT_EQ(::sigaction(number, &ours, &before), 0);
    call();
    ::sigaction(number, &before, nullptr);
}

void take_one(int, siginfo_t*, void* context) { last.take(context); }

[[gnu::noinline]] int raise_below(int depth) {
    if (depth == 0) return ::raise(SIGUSR1);
    return raise_below(depth - 1) + 1;
}

TEST(StackWalk, FindsTheFramesOfTheCLibrary) {
    with_handler(SIGUSR1, &take_one, 0, [] { EXPECT_EQ(raise_below(10), 10); });
    EXPECT_GT(last.n_ours, 12U);
    EXPECT_EQ(last.walked(), last.expected());
}

TEST(StackWalk, PassesThroughTheFrameOfAnotherSignal) {
    with_handler(SIGUSR1, &take_one, 0, [] {
        with_handler(
            SIGUSR2, [](int, siginfo_t*, void*) { EXPECT_EQ(raise_below(3), 3); }, 0,
            [] { ::raise(SIGUSR2); });
    });
    EXPECT_GT(last.n_ours, 8U);
    EXPECT_EQ(last.walked(), last.expected());
}

TEST(StackWalk, EndsAtTheNumberOfFramesAsked) {
    static std::size_t n;
    static std::uintptr_t frames[3];
    with_handler(
        SIGUSR1, [](int, siginfo_t*, void* context) { n = walk_stack(context, frames, 3); }, 0,
        [] { raise_below(5); });
    EXPECT_EQ(n, 3U);
}

/// Works in many functions of several libraries: allocation, exceptions, callbacks, long copies.
void work(int round) {
    std::map<std::string, std::vector<double>> all;
    for (int i = 0; i < 20; ++i) {
        std::vector<double>& values = all[std::to_string(round * i)];
        for (int k = 0; k < 50; ++k) values.push_back(std::sin(k * 0.1 + i));
        std::qsort(values.data(), values.size(), sizeof(double), [](const void* a, const void* b) {
            return *static_cast<const double*>(a) < *static_cast<const double*>(b) ? -1 : 1;
        });
    }
    try {
        if (round % 4 == 0) throw std::runtime_error("one");
    } catch (const std::exception& error) {
        all[error.what()].resize(100'000);
    }
}

/// At any instruction both find the same frames.
TEST(StackWalk, AgreesWithTheCLibraryWhereverItIsInterrupted) {
    void* frame;
    ::backtrace(&frame, 1);  // loads what it needs
    constexpr std::size_t most = 60;
    samples.resize(most);
    n_samples = 0;
    const auto take = [](int, siginfo_t*, void* context) {
        const std::size_t n = n_samples;
        if (n == most) return;
        samples[n].take(context);
        n_samples = n + 1;
    };
    with_handler(SIGPROF, take, SA_RESTART, [] {
        const itimerval often{{0, 1000}, {0, 1000}};
        ASSERT_EQ(::setitimer(ITIMER_PROF, &often, nullptr), 0);
        for (int round = 0; n_samples < most; ++round) work(round);
        const itimerval never{};
        ASSERT_EQ(::setitimer(ITIMER_PROF, &never, nullptr), 0);
    });
    for (const Sample& sample : samples) EXPECT_EQ(sample.walked(), sample.expected());
}

sigjmp_buf after_crash;
std::uintptr_t crash_frames[64];
std::size_t n_crash_frames;

#if defined(__clang__)
[[clang::no_sanitize("function")]]  // which reads before the function
#endif
[[gnu::noinline]] int
call_no_function(int (*function)()) {
    return function() + 1;
}

TEST(StackWalk, FindsTheCallerOfAFunctionThatDoesNotExist) {
    with_handler(
        SIGSEGV,
        [](int, siginfo_t*, void* context) {
            n_crash_frames = walk_stack_of_caller(context, crash_frames, 64);
            ::siglongjmp(after_crash, 1);
        },
        0,
        [] {
            if (sigsetjmp(after_crash, 1) == 0) {
                int (*volatile none)() = nullptr;
                call_no_function(none);
            }
        });
    ASSERT_GT(n_crash_frames, 3U);
    const auto function = reinterpret_cast<std::uintptr_t>(&call_no_function);
    EXPECT_GT(crash_frames[0], function);
    EXPECT_LT(crash_frames[0], function + 256);
}

std::size_t n_damaged;

void crash_on_damaged_stack(int, siginfo_t*, void* context) {
    ucontext_t copy;
    std::memcpy(&copy, context, sizeof copy);
    std::uintptr_t frames[64];
#if defined(__x86_64__)
    copy.uc_mcontext.gregs[REG_RSP] = 0x1000;
    copy.uc_mcontext.gregs[REG_RBP] = 0x1000;
#else
    copy.uc_mcontext.sp = 0x1000;
    copy.uc_mcontext.regs[29] = 0x1000;
#endif
    n_damaged = walk_stack(&copy, frames, 64);
}

TEST(StackWalk, SurvivesAStackThatIsNotMapped) {
    n_damaged = 0;
    with_handler(SIGUSR1, &crash_on_damaged_stack, 0, [] { raise_below(2); });
    EXPECT_GE(n_damaged, 1U);
    EXPECT_LE(n_damaged, 2U);
}

}  // namespace
}  // namespace atl::common

#endif
