// Two threads of a PE in collectives of one team: one of them gets an error.
#include "support.hpp"

#include <atomic>
#include <latch>
#include <thread>

namespace atl::testing {
namespace {

/// A thread is inside its collective call also between the call's meetings. Other threads then get an error.
TEST(TwoThreads, AreFoundBetweenTheMeetingsOfACall) {
    for (const auto level : {common::CheckLevel::basic, common::CheckLevel::args})
        run_pes(
            1,
            [](Job& job) {
                const Team team = job.world().split(0);
                {
                    const core::Meetings::Within within(team.state().meetings(), "broadcast");
                    expect_team_works(team);
                    std::thread other([&] {
                        expect_parts(mismatch_of([&] { team.sync(); }), {"broadcast and sync"});
                        expect_parts(mismatch_of([&] { expect_team_works(team); }), {"broadcast and reduce"});
                        expect_parts(mismatch_of([&] { static_cast<void>(team.split(0)); }),
                                     {"broadcast and split"});
                    });
                    other.join();
                    team.barrier();
                }
                std::thread other([&] { expect_team_works(team); });
                other.join();
            },
            checked_options(level));
}

#if !defined(__SANITIZE_THREAD__)  // the test is a data race by intent
/// With ATOLL_CHECK=basic both threads may enter. At least one then gets an error, and both calls end. The
/// call of the other PE ends too. It gets an error if the two threads' calls became one meeting that it
/// cannot join.
TEST(TwoThreads, ThatEnterInTheSameMoment) {
    run_pes(
        2,
        [](Job& job) {
            for (int round = 0; round < 300; ++round) {
                const Team team = job.world().split(0);
                if (job.my_pe() == 1) {
                    job.world().barrier();
                    try {
                        team.barrier();
                    } catch (const Error& error) {
                        EXPECT_EQ(error.code(), ErrorCode::collective_mismatch) << error.what();
                    }
                    continue;
                }
                std::atomic<int> ready{0}, refused{0};
                const auto meet = [&] {
                    ++ready;
                    while (ready < 2) std::this_thread::yield();
                    try {
                        team.barrier();
                    } catch (const Error& error) {
                        EXPECT_EQ(error.code(), ErrorCode::collective_mismatch) << error.what();
                        ++refused;
                    }
                };
                std::thread first(meet), second(meet);
                while (refused == 0) std::this_thread::yield();
                job.world().barrier();
                first.join();
                second.join();
            }
        },
        checked_options(common::CheckLevel::basic));
}
#endif

/// A refused call leaves no trace, in either order of the threads' ends.
TEST(TwoThreads, LeaveTheTeamUsable) {
    run_pes(
        1,
        [](Job& job) {
            const Team team = job.world().split(0);
            std::latch both(2);
            const auto meet_often = [&] {
                both.arrive_and_wait();
                for (int round = 0; round < 300000; ++round) try {
                        team.sync();
                    } catch (const Error& error) {
                        ASSERT_EQ(error.code(), ErrorCode::collective_mismatch) << error.what();
                    }
            };
            std::thread first(meet_often), second(meet_often);
            first.join();
            second.join();
            expect_team_works(team);
        },
        checked_options(common::CheckLevel::args));
}

}  // namespace
}  // namespace atl::testing
