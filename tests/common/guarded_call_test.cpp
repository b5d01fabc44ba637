#include "common/recorder/guarded_call.hpp"

#include "common/recorder/stack_area.hpp"

#include <csignal>
#include <gtest/gtest.h>

namespace atl::common {
namespace {

#if !defined(__SANITIZE_THREAD__)  // its runtime ends the process at a fault, whatever handler there is

int calls = 0;
void fault(int number) {
    ++calls;
    ::raise(number);
    ++calls;
}

TEST(GuardedCall, EndsAtAFaultAndLeavesTheHandlersOfTheProgram) {
    struct sigaction before[2], after[2];
    const int faults[] = {SIGSEGV, SIGBUS};
    for (int i = 0; i < 2; ++i) ::sigaction(faults[i], nullptr, &before[i]);
    calls = 0;
    for (const int number : faults) EXPECT_FALSE(guarded_call(&fault, number));
    EXPECT_EQ(calls, 2);
    EXPECT_TRUE(guarded_call([](int number) { calls = number; }, 7));
    EXPECT_EQ(calls, 7);
    for (int i = 0; i < 2; ++i) {
        ::sigaction(faults[i], nullptr, &after[i]);
        EXPECT_EQ(before[i].sa_handler, after[i].sa_handler);
    }
}

TEST(GuardedCall, ARequestForStacksIsAnsweredBehindAHandlerThatFaults) {
    static StackArea area;
    offer_stacks(area);
    const int asks = area.signal.load();
    ASSERT_NE(asks, 0);
    struct sigaction ours {};
    ::sigaction(asks, nullptr, &ours);
    ::signal(asks, [](int) { fault(SIGSEGV); });
    answer_after_current_handler(nullptr);
    calls = 0;
    ::raise(asks);
    ::raise(asks);
    EXPECT_EQ(area.answers.load(), 2u);
    EXPECT_EQ(calls, 2);
    EXPECT_GT(area.threads[0].frames.load(), 2u);
    withdraw_stacks(area);
    ::sigaction(asks, &ours, nullptr);  // other tests of this process offer stacks, too
}

#endif

}  // namespace
}  // namespace atl::common
