// Contexts: PE numbers of their team, options, use from several threads, and separate ordering.
#include "support/setups.hpp"

#include "core/team/context_state.hpp"

#include <climits>
#include <thread>
#include <vector>

namespace atl::testing {
namespace {

class Contexts : public WithPes {};

TEST_P(Contexts, CountPesWithinTheirTeam) {
    run([](Job& job) {
        const Team backwards = job.world().split(0, -job.my_pe());
        const Context context = backwards.create_context();
        const int n = job.n_pes();
        EXPECT_EQ(context.my_pe(), n - 1 - job.my_pe());
        EXPECT_EQ(context.n_pes(), n);
        SymmetricArray<int> x(job, static_cast<std::size_t>(n));
        SymmetricArray<std::uint64_t> signal(job, 1);
        const auto me = static_cast<std::size_t>(context.my_pe());
        for (int pe = 0; pe < n; ++pe) context.p(&x[me], 100 + pe, pe);
        context.quiet();
        backwards.sync();
        for (const int value : x) EXPECT_EQ(value, 100 + backwards.my_pe());
        backwards.sync();
        // Atomics and signals use the same PE numbers.
        context.atomic_set(x.data(), -1, n - 1);
        context.signal_add(signal.data(), 1, 0);
        context.quiet();
        backwards.sync();
        EXPECT_EQ(job.context().g(x.data(), 0), -1);
        EXPECT_EQ(job.context().atomic_fetch(signal.data(), n - 1), static_cast<std::uint64_t>(n));
        expect_error(ErrorCode::pe, {}, [&] { context.p(x.data(), 1, n); });
        job.world().barrier();
    });
}

TEST_P(Contexts, OfSmallTeamsKnowNoOtherPes) {
    run([](Job& job) {
        const Team pair = job.world().split(job.my_pe() / 2, job.my_pe());
        const Context context = pair.create_context({.private_to_thread = true});
        SymmetricArray<int> x(job, 2);
        context.p(&x[static_cast<std::size_t>(pair.my_pe())], 1 + job.my_pe(), pair.n_pes() - 1);
        context.quiet();
        pair.sync();
        if (pair.my_pe() == pair.n_pes() - 1) {
            for (int i = 0; i < pair.n_pes(); ++i)
                EXPECT_EQ(x[static_cast<std::size_t>(i)], 1 + pair.world_pe(i));
        }
        expect_error(ErrorCode::pe, {std::to_string(pair.n_pes())},
                     [&] { context.g(x.data(), pair.n_pes()); });
        job.world().barrier();
    });
}

TEST_P(Contexts, OptionsAndHandles) {
    run([](Job& job) {
        SymmetricArray<long> x(job, 4);
        const int pe = right_of(job);
        long i = 0;
        for (const ContextOptions& options :
             {ContextOptions{}, ContextOptions{.private_to_thread = true}, ContextOptions{.serialized = true},
              ContextOptions{.nostore = true}}) {
            const Context context = job.create_context(options);
            const Context copy = context;
            EXPECT_TRUE(context);
            EXPECT_EQ(context, copy);
            EXPECT_FALSE(context == job.context());
            EXPECT_EQ(context.my_pe(), job.my_pe());
            copy.p(&x[static_cast<std::size_t>(i)], i + 1, pe);
            context.fence();
            context.quiet();
            EXPECT_EQ(job.context().g(&x[static_cast<std::size_t>(i)], pe), i + 1);
            ++i;
        }
        EXPECT_FALSE(Context());
        job.world().barrier();
    });
}

TEST_P(Contexts, DestroyingCompletesWhatIsOutstanding) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 100);
        const std::vector<int> ones(100, 1 + job.my_pe());
        {
            const Context context = job.create_context();
            for (std::size_t i = 0; i < 100; ++i) context.put_nbi(&x[i], &ones[i], 1, right_of(job));
        }
        job.world().sync();  // not barrier: only the context's own end has completed its puts
        for (const int value : x) ASSERT_EQ(value, 1 + left_of(job));
        job.world().sync();
    });
}

TEST_P(Contexts, PeQuietCompletesTowardsThosePes) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 10);
        const Context context = job.create_context();
        const int pes[] = {right_of(job), job.my_pe()};
        const int value = 5 + job.my_pe();
        for (std::size_t i = 0; i < 10; ++i) context.put_nbi(&x[i], &value, 1, right_of(job));
        context.pe_quiet(pes);
        for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(job.context().g(&x[i], right_of(job)), value);
        context.pe_quiet({});
        job.world().barrier();
    });
}

TEST_P(Contexts, TheDefaultOneServesAllThreads) {
    run([](Job& job) {
        constexpr int n_threads = 3;
        constexpr int rounds = 60;
        SymmetricArray<long> sums(job, n_threads + 1);
        SymmetricArray<int> words(job, n_threads);
        const auto work = [&](int t, int first) {
            const auto k = static_cast<std::size_t>(t);
            const Context& context = job.context();
            for (int i = first; i < first + rounds; ++i) {
                context.atomic_add(&sums[k], 1, right_of(job));
                context.atomic_inc(&sums[n_threads], 0);
                context.p(&words[k], i, right_of(job));
                context.fence();  // puts to one word are unordered, too
                if (i % 20 != 0) continue;
                context.quiet();
                EXPECT_GE(context.g(&words[k], right_of(job)), i);
            }
            context.quiet();
            context.wait_until(&words[k], Compare::eq, first + rounds - 1);
        };
        // The end is repeated: the quiet of each thread completes its own operations, whatever others do.
        constexpr int repeats = 8;
        for (int repeat = 0; repeat < repeats; ++repeat) {
            std::vector<std::thread> threads;
            for (int t = 0; t < n_threads; ++t) threads.emplace_back(work, t, 1 + repeat * rounds);
            for (auto& thread : threads) thread.join();
            job.world().barrier();
            const long done = (repeat + 1L) * rounds;
            for (std::size_t k = 0; k < n_threads; ++k) EXPECT_EQ(sums[k], done);
            EXPECT_EQ(job.context().g(&sums[n_threads], 0), done * n_threads * job.n_pes());
            job.world().barrier();
        }
    });
}

TEST_P(Contexts, OneEachForManyThreads) {
    run([](Job& job) {
        constexpr std::size_t n_threads = 4;
        constexpr std::uint64_t rounds = 100;
        SymmetricArray<std::uint64_t> data(job, n_threads), flags(job, n_threads), taken(job, n_threads);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < n_threads; ++t)
            threads.emplace_back([&, t] {
                const Context context = job.create_context({.private_to_thread = true});
                for (std::uint64_t i = 1; i <= rounds; ++i) {
                    context.p(&data[t], 10 * i, right_of(job));
                    context.fence();
                    context.p(&flags[t], i, right_of(job));
                    context.quiet();
                    context.wait_until(&flags[t], Compare::ge, i);
                    ASSERT_EQ(job.context().atomic_fetch(&data[t], job.my_pe()), 10 * i);
                    context.signal_add(&taken[t], 1, left_of(job));
                    context.quiet();
                    context.wait_until(&taken[t], Compare::ge, i);
                }
            });
        for (auto& thread : threads) thread.join();
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Contexts, ::testing::ValuesIn(all_setups()), setup_name);

/// Sets the time of a move from which on a program makes few, so that no clock matters.
class Seldom {
  public:
    explicit Seldom(std::uint64_t ns) : before_(core::ContextState::seldom_ns.exchange(ns)) {}
    ~Seldom() { core::ContextState::seldom_ns = before_; }
    Seldom(const Seldom&) = delete;
    Seldom& operator=(const Seldom&) = delete;

  private:
    const std::uint64_t before_;
};

class FirstMoves : public ::testing::TestWithParam<common::CheckLevel> {};

/// Each put counts once, and threads may share a context while it turns to the fast path.
TEST_P(FirstMoves, AreNotedForHangReports) {
    const Seldom never(~std::uint64_t{0});
    const auto body = [](Job& job) {
        constexpr int noted = 4096, n_threads = 2;
        SymmetricArray<int> x(job, n_threads);
        const auto has_lost = [&] { return job.state().recorder->writes().has_lost.load() != 0; };
        const auto put_in_threads = [&](const Context& context, int moves) {
            std::vector<std::thread> threads;
            for (std::size_t t = 0; t < n_threads; ++t)
                threads.emplace_back([&, t] {
                    for (int i = 1; i <= moves; ++i) context.p(&x[t], i, right_of(job));
                });
            for (auto& thread : threads) thread.join();
        };
        const Context context = job.create_context();
        put_in_threads(context, noted / n_threads - 1);
        context.p(x.data(), 1, right_of(job));
        EXPECT_FALSE(has_lost());
        context.p(x.data(), 1, right_of(job));
        EXPECT_TRUE(has_lost());
        put_in_threads(job.create_context(), noted);
        job.world().barrier();
        for (const int value : x) EXPECT_EQ(value, noted);
        job.world().barrier();
    };
    ThreadJobOptions options;
    options.check = GetParam();
    run_pes(2, body, options);
}

TEST_P(FirstMoves, AreAllNotedIfTheProgramMakesFew) {
    const Seldom always(0);
    const auto body = [](Job& job) {
        SymmetricArray<int> x(job, 1);
        constexpr int moves = 3 * 4096 + 7;
        const Context context = job.create_context();
        for (int i = 1; i <= moves; ++i) context.p(x.data(), i, right_of(job));
        EXPECT_EQ(job.state().recorder->writes().has_lost.load(), 0U);
        context.quiet();
        job.world().barrier();
        EXPECT_EQ(x[0], moves);
        job.world().barrier();
    };
    ThreadJobOptions options;
    options.check = GetParam();
    run_pes(2, body, options);
}

INSTANTIATE_TEST_SUITE_P(Checks, FirstMoves,
                         ::testing::Values(common::CheckLevel::basic, common::CheckLevel::args),
                         [](const auto& info) {
                             return info.param == common::CheckLevel::basic ? "basic" : "args";
                         });

}  // namespace
}  // namespace atl::testing
