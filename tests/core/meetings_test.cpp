// Barriers of members that migrate between cores. Oversubscribed teams count arrivals per core, and lose
// none.
#include "support/setups.hpp"

#include <sched.h>

#include <numeric>
#include <random>

namespace atl::testing {
namespace {

class Meetings : public WithPes {};

/// Moves this thread to one of its allowed cores.
void move_to(const cpu_set_t& usable, std::size_t which) {
    const auto n = static_cast<std::size_t>(CPU_COUNT(&usable));
    std::size_t seen = 0;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &usable) || seen++ != which % n) continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        ::sched_setaffinity(0, sizeof one, &one);
    }
}

/// A reduction of `count` elements: as many as one line fits for all members, and more.
void check_reduction(const Team& team, std::size_t count, int round) {
    std::vector<std::uint16_t> mine(count), sum(count);
    std::iota(mine.begin(), mine.end(), static_cast<std::uint16_t>(round + 100 * team.my_pe()));
    team.reduce(std::span(sum), std::span<const std::uint16_t>(mine), ReduceOp::sum);
    const int n = team.n_pes();
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(sum[i],
                  static_cast<std::uint16_t>(n * (round + static_cast<int>(i)) + 100 * n * (n - 1) / 2))
            << "element " << i << " of " << count << " in round " << round;
}

TEST_P(Meetings, TheTeamsShapeSelectsTheStrategy) {
    run([](Job& job) {
        const core::Pace& pace = job.state().pace();
        const bool has_cores = job.state().topology().machine_pes() <= pace.usable_cpus;
        const auto expected = [&](const Team& team) -> std::string {
            if (team.state().spread()) return "far";
            if (team.n_pes() == 1) return "alone";
            if (!has_cores) return "oversubscribed";
            return team.n_pes() == 2 ? "pair" : "dissemination";
        };
        Team own = job.world().split(job.my_pe());
        Team half = job.world().split(job.my_pe() % 2);
        for (const Team& team : {job.world(), job.shared(), half, own})
            EXPECT_EQ(team.state().meetings().strategy(), expected(team)) << team.state().name();
        half.destroy();
        own.destroy();
    });
}

TEST_P(Meetings, MembersMayMoveBetweenCores) {
    run([](Job& job) {
        cpu_set_t usable;
        ASSERT_EQ(::sched_getaffinity(0, sizeof usable, &usable), 0);
        std::mt19937 random(static_cast<unsigned>(job.my_pe()));
        Team half = job.world().split(job.my_pe() % 2, job.my_pe());
        SymmetricArray<int> seen(job, 1);
        const int right = (job.my_pe() + 1) % job.n_pes();
        for (int round = 0; round < 300; ++round) {
            if (random() % 8 == 0) move_to(usable, random());
            job.context().p(seen.data(), round, right);
            job.world().barrier();
            ASSERT_EQ(seen[0], round);
            job.world().sync();
            for (const std::size_t count : {1U, 3U, 4U, 24U, 100U})
                check_reduction(job.world(), count, round);
            check_reduction(half, 1 + static_cast<std::size_t>(round) % 9, round);
        }
        ASSERT_EQ(::sched_setaffinity(0, sizeof usable, &usable), 0);
        half.destroy();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Meetings, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
