// Put-with-signal: the data arrive before the signal, whatever their size. An empty put still signals.
#include "support/setups.hpp"

#include <numeric>

namespace atl::testing {
namespace {

class Signals : public WithPes {};

TEST_P(Signals, DataOfEverySizeArriveBeforeTheSignal) {
    run([](Job& job) {
        constexpr std::size_t most = 200'000;
        SymmetricArray<unsigned char> target(job, most);
        SymmetricArray<std::uint64_t> arrived(job, 1), taken(job, 1);
        const Context& c = job.context();
        std::vector<unsigned char> mine(most);
        std::uint64_t round = 0;
        for (const std::size_t bytes :
             {0u, 1u, 3u, 8u, 9u, 64u, 1000u, 65'535u, 65'536u, 70'001u, 200'000u, 2u}) {
            ++round;
            for (std::size_t i = 0; i < bytes; ++i)
                mine[i] = static_cast<unsigned char>(i * round + static_cast<std::size_t>(job.my_pe()));
            const bool add = round % 2 == 0;
            const auto put = add ? std::uint64_t{1} : round;
            if (round % 3 == 0)
                c.put_signal_nbi(target.data(), mine.data(), bytes, arrived.data(), put,
                                 add ? SignalOp::add : SignalOp::set, right_of(job));
            else
                c.put_signal(target.data(), mine.data(), bytes, arrived.data(), put,
                             add ? SignalOp::add : SignalOp::set, right_of(job));
            ASSERT_EQ(c.signal_wait_until(arrived.data(), Compare::ge, round), round);
            for (std::size_t i = 0; i < bytes; ++i)
                ASSERT_EQ(target[i],
                          static_cast<unsigned char>(i * round + static_cast<std::size_t>(left_of(job))));
            c.signal_add(taken.data(), 1, left_of(job));
            c.quiet();
            c.signal_wait_until(taken.data(), Compare::ge, round);
        }
        job.world().barrier();
    });
}

TEST_P(Signals, ManyAddersAreCounted) {
    run([](Job& job) {
        SymmetricArray<std::uint64_t> count(job, 1);
        SymmetricArray<int> from(job, static_cast<std::size_t>(job.n_pes()));
        constexpr std::uint64_t rounds = 200;
        const auto me = static_cast<std::size_t>(job.my_pe());
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            const int value = static_cast<int>(i);
            for (int pe = 0; pe < job.n_pes(); ++pe)
                job.context().put_signal(&from[me], &value, 1, count.data(), 1, SignalOp::add, pe);
        }
        job.context().quiet();
        job.context().signal_wait_until(count.data(), Compare::eq,
                                        rounds * static_cast<std::uint64_t>(job.n_pes()));
        for (const int last : from) EXPECT_EQ(last, static_cast<int>(rounds));
        job.world().barrier();
    });
}

TEST_P(Signals, MisuseIsNamed) {
    run([](Job& job) {
        SymmetricArray<std::uint64_t> signal(job, 2);
        SymmetricArray<int> x(job, 4);
        const Context& c = job.context();
        const int y[4] = {1, 2, 3, 4};
        const int pe = right_of(job);
        std::uint64_t local = 0;
        auto* crooked = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(signal.data()) + 4);
        expect_error(ErrorCode::not_symmetric, {},
                     [&] { c.put_signal(x.data(), y, 4, &local, 1, SignalOp::set, pe); });
        expect_error(ErrorCode::invalid_argument, {"multiple of 8"},
                     [&] { c.put_signal(x.data(), y, 4, crooked, 1, SignalOp::set, pe); });
        expect_error(ErrorCode::invalid_argument, {"multiple of 8"}, [&] { c.signal_add(crooked, 1, 0); });
        expect_error(ErrorCode::pe, {}, [&] { c.signal_set(signal.data(), 1, job.n_pes()); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { c.signal_fetch(&local); });
        job.world().barrier();
        EXPECT_EQ(signal[0], 0u);  // the refused call has changed nothing
        EXPECT_EQ(x[0], 0);
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Signals, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
