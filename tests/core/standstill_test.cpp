#include "core/hang/standstill.hpp"
#include "core/hang/sleep_watch.hpp"

#include <gtest/gtest.h>

namespace atl::core {
namespace {

using common::PeDoing;
using common::PeState;

/// A PE that waits, or one that computes if `waits` is false.
PeDoing doing(bool waits, double cpu_s, double coreless_s) {
    PeDoing one;
    one.state = PeState::running;
    one.waits = waits;
    one.cpu_s = cpu_s;
    one.coreless_s = coreless_s;
    return one;
}

/// The seconds that a standstill reports at `now_s`, after a first picture at 0.
double seconds_after(const std::vector<PeDoing>& first, const std::vector<PeDoing>& then, double now_s) {
    Standstill standstill({0.1, 0.1, 0.001});
    EXPECT_EQ(standstill.seconds(first, 7, true, 0), 0);
    return standstill.seconds(then, 7, true, now_s);
}

TEST(Standstill, LastsWhileThePictureIsTheSame) {
    Standstill standstill({0.1, 0.1, 0.001});
    const std::vector<PeDoing> waiting{doing(true, 0, 0)};
    EXPECT_EQ(standstill.seconds(waiting, 7, true, 1), 0);
    EXPECT_DOUBLE_EQ(standstill.seconds(waiting, 7, true, 3), 2);
    EXPECT_EQ(standstill.seconds(waiting, 8, true, 4), 0);
    EXPECT_EQ(standstill.seconds(waiting, 8, false, 5), 0);
}

TEST(Standstill, EndsWhenAPeComputes) {
    EXPECT_EQ(seconds_after({doing(true, 0, 0)}, {doing(true, 1, 0)}, 2), 0);
    std::vector<PeDoing> polling{doing(true, 1, 0)};
    polling[0].polls = true;
    EXPECT_DOUBLE_EQ(seconds_after({doing(true, 0, 0)}, polling, 2), 2);
}

TEST(Standstill, DoesNotCountTimeWithoutACore) {
    EXPECT_DOUBLE_EQ(seconds_after({doing(true, 0, 5)}, {doing(true, 0, 6.5)}, 2), 0.5);
    std::vector<PeDoing> polling{doing(true, 0, 6.5)};
    polling[0].polls = true;
    EXPECT_DOUBLE_EQ(seconds_after({doing(true, 0, 5)}, polling, 2), 2);
}

TEST(Standstill, CountsATenthOfTheTimeHoweverBusyTheMachine) {
    EXPECT_DOUBLE_EQ(seconds_after({doing(true, 0, 0)}, {doing(true, 0, 1000)}, 20), 2);
}

TEST(Standstill, BeginsAgainAfterRestart) {
    Standstill standstill({0.1, 0.1, 0.001});
    EXPECT_EQ(standstill.seconds({doing(true, 0, 0)}, 7, true, 0), 0);
    standstill.restart(60);
    const std::vector<PeDoing> later{doing(true, 0, 40)};
    EXPECT_EQ(standstill.seconds(later, 7, true, 60), 0);
    EXPECT_DOUBLE_EQ(standstill.seconds(later, 7, true, 62), 2);
}

/// All PEs may be in loops of tests: they are asked, and no report says that they work.
TEST(SleepWatch, AsksPesOfWhichNoneWaits) {
    std::vector<common::PeDoing> doing(2, common::of_state(common::PeState::running, "in its own code"));
    for (auto& one : doing) one.process = 'R';
    SleepWatch watch(1, false, false);
    bool has_asked = false;
    for (double now_s = 0; now_s < 200; now_s += 5) {
        EXPECT_FALSE(watch.update(doing, now_s));
        has_asked = watch.should_ask(now_s) || has_asked;
    }
    EXPECT_TRUE(has_asked);
    EXPECT_EQ(watch.answered(doing), "");
}

}  // namespace
}  // namespace atl::core
