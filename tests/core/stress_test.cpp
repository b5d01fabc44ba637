// All features at once: threads of every PE with separate teams, contexts and objects.
#include "support/setups.hpp"

namespace atl::testing {
namespace {

class Stress : public WithPes {};

/// The objects of one thread of a PE. Two threads use two teams for collectives.
struct Share {
    Team team;
    Context context;
    std::uint64_t* data;
    std::uint64_t* signal;
    long* sum;
};

void work(Job& job, Mailbox& box, std::int64_t* lock, long* guarded, const Share& share, int rounds) {
    const Team& team = share.team;
    const Context& c = share.context;
    const int right = (team.my_pe() + 1) % team.n_pes();
    const int left = (team.my_pe() + team.n_pes() - 1) % team.n_pes();
    for (int i = 1; i <= rounds; ++i) {
        const auto value = static_cast<std::uint64_t>(i);
        c.put_signal(share.data, &value, 1, share.signal, 1, SignalOp::add, right);
        ASSERT_EQ(c.signal_wait_until(share.signal, Compare::ge, value), value);
        ASSERT_EQ(c.atomic_fetch(share.data, team.my_pe()), value);
        c.atomic_add(share.sum, 1, 0);
        if (i % 3 == 0) {
            int got = -1;
            MessageGroup group(team);
            group.send_bytes(&i, sizeof i, right);
            group.recv_bytes(&got, sizeof got, left);
            group.run();
            ASSERT_EQ(got, i);
        }
        if (lock && i % 4 == 0) {  // one thread of each PE: a PE holds a lock, not a thread
            set_lock(job, lock);
            job.context().p(guarded, job.context().g(guarded, 0) + 1, 0);
            clear_lock(job, lock);
            box.post(&i, sizeof i, right_of(job));
            int got = -1;
            box.receive(&got, sizeof got, left_of(job));
            ASSERT_EQ(got, i);
        }
        if (i % 10 == 0) {
            Team inner = team.split(team.my_pe() % 2, -team.my_pe());
            inner.sync();
            inner.destroy();
        }
        c.quiet();
        team.barrier();
    }
}

TEST_P(Stress, ThreadsTeamsContextsAndObjects) {
    run([](Job& job) {
        constexpr std::size_t n_threads = 3;
        constexpr int rounds = 40;
        SymmetricArray<std::uint64_t> data(job, n_threads), signals(job, n_threads);
        SymmetricArray<long> sums(job, n_threads + 1);
        SymmetricArray<std::int64_t> lock(job, 1);
        Mailbox box(job, 16, 2);
        std::vector<Share> shares;
        for (std::size_t t = 0; t < n_threads; ++t) {
            const Team team = job.world().split(0, t % 2 ? -job.my_pe() : job.my_pe());
            const ContextOptions options{.private_to_thread = t == 1, .serialized = t == 2};
            shares.push_back({team, team.create_context(options), &data[t], &signals[t], &sums[t]});
        }
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < n_threads; ++t)
            threads.emplace_back([&, t] {
                work(job, box, t == 0 ? lock.data() : nullptr, &sums[n_threads], shares[t], rounds);
            });
        for (auto& thread : threads) thread.join();
        job.world().barrier();
        for (std::size_t t = 0; t < n_threads; ++t) {
            if (shares[t].team.my_pe() == 0) {
                EXPECT_EQ(sums[t], long{rounds} * job.n_pes());
            }
        }
        EXPECT_EQ(job.context().g(&sums[n_threads], 0), rounds / 4 * job.n_pes());
        for (Share& share : shares) share.team.destroy();
        box.free();
    });
}

TEST_P(Stress, BarriersOfOverlappingTeams) {
    run([](Job& job) {
        // Halves and thirds of the world, synchronised in turn. Each has a count that all its members must
        // have reached.
        const Team halves = job.world().split(job.my_pe() % 2, 0);
        const Team thirds = job.world().split(job.my_pe() % 3, -job.my_pe());
        SymmetricArray<long> count(job, 3);
        const Context& c = job.context();
        for (long i = 1; i <= 200; ++i) {
            const auto meet = [&](const Team& team, std::size_t k) {
                c.p(&count[k], i, job.my_pe());
                team.barrier();
                for (int pe = 0; pe < team.n_pes(); ++pe) ASSERT_GE(c.g(&count[k], team.world_pe(pe)), i);
            };
            meet(halves, 0);
            meet(thirds, 1);
            if (i % 20 == 0) meet(job.world(), 2);
        }
        job.world().barrier();
    });
}

TEST_P(Stress, ManySmallJobs) {
    if (pes_are_processes) GTEST_SKIP() << "one job a process";
    for (int i = 0; i < 20; ++i)
        run([i](Job& job) {
            SymmetricArray<int> x(job, 10);
            job.context().p(x.data(), i, right_of(job));
            job.world().barrier();
            EXPECT_EQ(x[0], i);
        });
}

INSTANTIATE_TEST_SUITE_P(Pes, Stress, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
