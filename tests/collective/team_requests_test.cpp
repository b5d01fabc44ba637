// Non-blocking collectives of teams: results as those of blocking calls, order, errors, and requests that are
// dropped.
#include "atoll/requests.hpp"
#include "support.hpp"

#include <thread>

namespace atl::testing {
namespace {

/// 1 element is in one line, 1000 in one slot, and 300'000 take several rounds of a sliced reduction.
constexpr std::size_t request_counts[] = {0, 1, 1000, 300'000};

template <class T> std::vector<T> request_values(int pe, std::size_t count, int round = 0) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = value<T>(pe, i, round);
    return all;
}

/// Runs `call` with the team, and again with requests: both results are equal.
template <class T, class Call> void compare(const Team& team, std::size_t dst_count, Call&& call) {
    std::vector<T> expected(dst_count), got(dst_count);
    call(team, expected);
    Requests requests(team);
    call(requests, got);
    requests.wait();
    EXPECT_TRUE(requests.test());
    EXPECT_EQ(expected, got);
}

template <class T> void compare_requests(const Team& team, std::size_t count) {
    const int me = team.my_pe();
    const auto n = static_cast<std::size_t>(team.n_pes());
    const std::vector<T> mine = request_values<T>(me, count), wide = request_values<T>(me, count * n);
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod})
        compare<T>(team, count, [&](const auto& on, auto& dst) { on.reduce(dst, mine, op); });
    compare<T>(team, count, [&](const auto& on, auto& dst) { on.reduce_scatter(dst, wide, ReduceOp::sum); });
    compare<T>(team, count * n, [&](const auto& on, auto& dst) { on.fcollect(dst, mine); });
    compare<T>(team, count * n, [&](const auto& on, auto& dst) { on.alltoall(dst, wide); });
    for (int root = 0; root < team.n_pes(); ++root) {
        const bool is_root = me == root;
        compare<T>(team, count, [&](const auto& on, auto& dst) { on.broadcast(dst, mine, root); });
        compare<T>(team, is_root ? count : 0,
                   [&](const auto& on, auto& dst) { on.reduce_to(dst, mine, ReduceOp::sum, root); });
        compare<T>(team, is_root ? count * n : 0,
                   [&](const auto& on, auto& dst) { on.gather(dst, mine, root); });
        compare<T>(team, count, [&](const auto& on, auto& dst) { on.scatter(dst, wide, root); });
    }
}

TEST(TeamRequests, HaveTheResultsOfBlockingCalls) {
    for (const int n : {1, 2, 3})
        run_pes(n, [](Job& job) {
            for (const std::size_t count : request_counts) {
                compare_requests<double>(job.world(), count);
                compare_requests<std::int16_t>(job.world(), count);
            }
        });
}

TEST(TeamRequests, WorkOnEveryTeam) {
    run_pes(4, [](Job& job) {
        const Team half = job.world().split(job.my_pe() % 2), alone = job.world().split(job.my_pe());
        compare_requests<double>(half, 1000);
        compare_requests<double>(alone, 1000);
        // Two teams at once, in another order on each PE.
        std::int64_t one = 1, sums[2] = {};
        Requests a(job.world()), b(half);
        const auto start = [&](Requests& requests, std::int64_t& sum) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&one, 1));
        };
        if (job.my_pe() < 2) start(a, sums[0]);
        start(b, sums[1]);
        if (job.my_pe() >= 2) start(a, sums[0]);
        if (job.my_pe() % 2 == 0) b.wait();
        a.wait();
        b.wait();
        EXPECT_EQ(sums[0], 4);
        EXPECT_EQ(sums[1], 2);
        Team gone = half;
        gone.destroy();
        EXPECT_THROW(Requests{gone}, Error);
    });
}

TEST(TeamRequests, SeveralGoOnTogetherAndBesideBlockingCalls) {
    run_pes(3, [](Job& job) {
        Requests requests(job.world());
        const std::int64_t mine = job.my_pe() + 1;
        std::vector<std::int64_t> sums(50);
        for (std::int64_t& sum : sums) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        expect_team_works(job.world());
        requests.sync();
        requests.wait();
        EXPECT_EQ(sums, std::vector<std::int64_t>(50, 6));
    });
}

/// The call returns although no other member has made it; the members need not wait at the same time.
TEST(TeamRequests, StartWithoutTheOthers) {
    run_pes(2, [](Job& job) {
        std::int64_t mine = 1, sum = 0;
        Requests requests(job.world());
        if (job.my_pe() == 0) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            EXPECT_FALSE(requests.test());
        }
        job.world().barrier();
        if (job.my_pe() == 1) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        while (!requests.test()) std::this_thread::yield();
        EXPECT_EQ(sum, 2);
    });
}

/// The text of the error that `call` throws.
template <class Call> std::string error_text_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(TeamRequests, CompareTheCallsOfTheMembers) {
    run_pes(2, [](Job& job) {
        const Team team = job.world().split(0);
        std::vector<double> mine(job.my_pe() == 0 ? 4 : 5), sum(mine.size());
        Requests requests(team);
        const std::string text = error_text_of([&] {
            requests.sum_reduce(sum, mine);
            requests.wait();
        });
        expect_parts(text, {"PE 0", "PE 1", "32 bytes", "40 bytes", "in the same order, with equal sizes"});
        expect_parts(error_text_of([&] { requests.sum_reduce(sum, mine); }),
                     {"is unusable", "Its blocking collectives are not affected"});
        expect_team_works(team);
    });
}

TEST(TeamRequests, RefuseWrongArguments) {
    run_pes(2, [](Job& job) {
        std::vector<double> mine(4), small(3);
        Requests requests(job.world());
        expect_parts(error_text_of([&] { requests.sum_reduce(small, mine); }), {"reduce", "3", "4"});
        expect_parts(error_text_of([&] { requests.fcollect(small, mine); }), {"fcollect", "24", "64"});
        expect_parts(error_text_of([&] { requests.broadcast(mine, mine, 2); }), {"2"});
        expect_parts(
            error_text_of([&] { requests.broadcast_bytes(nullptr, 8, mine.data(), 8, job.my_pe()); }),
            {"dst", "null"});
        // The failed calls have not taken part.
        std::vector<double> sum(4);
        requests.sum_reduce(sum, mine);
        requests.wait();
    });
}

TEST(TeamRequests, AreNamedWhenTheyAreDroppedBeforeTheEnd) {
    run_pes(2, [](Job& job) {
        const Team team = job.world().split(0);
        // More than the slots of PE 0 hold, so PE 1 needs it again.
        std::vector<double> mine(1'000'000), sum(mine.size());
        if (job.my_pe() == 0) {
            Requests requests(team);
            requests.sum_reduce(sum, mine);
        }
        job.world().barrier();
        if (job.my_pe() == 1) {
            Requests requests(team);
            expect_parts(error_text_of([&] {
                             requests.sum_reduce(sum, mine);
                             requests.wait();
                         }),
                         {"PE 0 destroyed its requests before", "of 8000000 bytes was done"});
        }
        expect_team_works(team);
    });
}

TEST(TeamRequests, AWaitHasALimit) {
    run_pes(2, [](Job& job) {
        std::int64_t mine = 1, sum = 0;
        Requests requests(job.world());
        if (job.my_pe() == 0) {
            requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
            expect_parts(error_text_of([&] { requests.wait(1e-3); }),
                         {"Timed out after", "waiting for PE 1"});
        }
        job.world().barrier();
        if (job.my_pe() == 1) requests.sum_reduce(std::span(&sum, 1), std::span(&mine, 1));
        requests.wait();
        EXPECT_EQ(sum, 2);
    });
}

}  // namespace
}  // namespace atl::testing
