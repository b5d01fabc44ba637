// Members that wait for one another on the same core: each detects it, and yields.
#include <gtest/gtest.h>

#include <sched.h>

#include <thread>

#include "collective/support.hpp"
#include "core/team/poll.hpp"

namespace atl::testing {
namespace {

/// Binds this thread to the first core that it may use; returns that core.
int bind_to_first_core() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    EXPECT_EQ(::sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int core = 0;
    while (!CPU_ISSET(core, &allowed)) ++core;
    CPU_ZERO(&allowed);
    CPU_SET(core, &allowed);
    EXPECT_EQ(::sched_setaffinity(0, sizeof allowed, &allowed), 0);
    return core;
}

TEST(SharedCore, IsFoundByTheMemberThatComesSecond) {
    std::thread([] {
        const int core = bind_to_first_core();
        core::CoreLine mine{}, theirs{};
        EXPECT_FALSE(core::share_core(mine, theirs)) << "the other has not told yet";
        EXPECT_EQ(mine.waits_on.load(), core + 1);
        EXPECT_TRUE(core::share_core(theirs, mine));
        EXPECT_TRUE(core::share_core(mine, theirs));
        theirs.waits_on = core + 2;
        EXPECT_FALSE(core::share_core(mine, theirs));
    }).join();
}

TEST(SharedCore, OfAllMembersLeavesMeetingsRight) {
    for (const int n : {2, 3})
        run_pes(n, [n](Job& job) {
            const Team& world = job.world();
            const int core = bind_to_first_core();
            SymmetricArray<std::int64_t> src(job, 64), dst(job, 64);
            for (std::int64_t i = 0; i < 500; ++i) {
                for (auto& value : src) value = i + job.my_pe();
                world.sum_reduce(dst.span(), src.span());
                ASSERT_EQ(dst[63], n * i + n * (n - 1) / 2);
                world.broadcast(dst.span().first(1), src.span().first(1), static_cast<int>(i % n));
                ASSERT_EQ(dst[0], i + i % n);
                world.sync();
            }
            core::TeamState& team = world.state();
            // Members of an oversubscribed team group by core instead.
            EXPECT_EQ(team.member(job.my_pe()).core_line.waits_on.load(),
                      team.meetings().is_oversubscribed() ? 0 : core + 1);
        });
}

}  // namespace
}  // namespace atl::testing
