// Waits on a PE's own words: every comparison, every family, status masks, fairness, timeouts, rejected
// arguments.
#include "support/setups.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>

namespace atl::testing {
namespace {

class Waits : public WithPes {};

template <class T> void compare_all(Job& job, T low, T high) {
    SymmetricArray<T> x(job, 1);
    const Context& c = job.context();
    const int pe = right_of(job);
    c.p(x.data(), high, pe);
    c.quiet();
    // The left neighbour's value satisfies each of these, and is their result.
    EXPECT_EQ(c.wait_until(x.data(), Compare::eq, high), high);
    EXPECT_EQ(c.wait_until(x.data(), Compare::ne, low), high);
    EXPECT_EQ(c.wait_until(x.data(), Compare::gt, low), high);
    EXPECT_EQ(c.wait_until(x.data(), Compare::ge, high), high);
    EXPECT_EQ(c.wait_until(x.data(), Compare::le, high), high);
    EXPECT_TRUE(c.test(x.data(), Compare::gt, low));
    EXPECT_FALSE(c.test(x.data(), Compare::lt, high));
    EXPECT_FALSE(c.test(x.data(), Compare::eq, low));
    job.world().barrier();
    c.p(x.data(), low, pe);
    c.quiet();
    EXPECT_EQ(c.wait_until(x.data(), Compare::lt, high), low);
    EXPECT_FALSE(c.test(x.data(), Compare::ge, high));
    EXPECT_TRUE(c.test(x.data(), Compare::le, low));
    job.world().barrier();
}

template <class T> void compare_extremes(Job& job) {
    using Limits = std::numeric_limits<T>;
    // The upper half of an unsigned type is large; values with the sign bit of a signed type are small.
    compare_all<T>(job, Limits::min(), Limits::max());
    compare_all<T>(job, T(Limits::max() / 2), T(Limits::max() / 2 + 1));
    compare_all<T>(job, T(1), Limits::max());
    if (std::is_signed_v<T>) compare_all<T>(job, T(-1), T(1));
}

TEST_P(Waits, ComparisonsKeepTheSign) {
    run([](Job& job) {
        compare_extremes<int>(job);
        compare_extremes<unsigned>(job);
        compare_extremes<long>(job);
        compare_extremes<unsigned long>(job);
        compare_extremes<long long>(job);
        compare_extremes<std::uint64_t>(job);
        compare_extremes<short>(job);
        compare_extremes<std::uint16_t>(job);
        compare_extremes<std::int8_t>(job);
        compare_extremes<std::uint8_t>(job);
    });
}

TEST_P(Waits, AnUpdateOfAnyKindEndsAWait) {
    run([](Job& job) {
        SymmetricArray<std::uint64_t> x(job, 1);
        const Context& c = job.context();
        const int pe = right_of(job);
        std::uint64_t step = 0;
        const auto await = [&](auto&& update) {
            ++step;
            update();
            c.quiet();
            EXPECT_EQ(c.wait_until(x.data(), Compare::ge, step), step);
            job.world().sync();
        };
        const std::uint64_t three = 3;
        await([&] { c.p(x.data(), std::uint64_t{1}, pe); });
        await([&] { c.atomic_add(x.data(), 1, pe); });
        await([&] { c.put(x.data(), &three, 1, pe); });
        await([&] { c.atomic_set(x.data(), 4, pe); });
        await([&] { c.signal_add(x.data(), 1, pe); });
        await([&] { c.signal_set(x.data(), 6, pe); });
        await([&] { c.put_signal<int>(nullptr, nullptr, 0, x.data(), 1, SignalOp::add, pe); });
        await([&] { c.atomic_compare_swap(x.data(), 7, 8, pe); });
        await([&] { c.iput(x.data(), &step, 1, 1, 1, pe); });
        EXPECT_EQ(c.signal_fetch(x.data()), 9u);
        EXPECT_EQ(c.signal_wait_until(x.data(), Compare::ge, 9), 9u);
        job.world().barrier();
    });
}

TEST_P(Waits, AllAnySomeAcrossPes) {
    run([](Job& job) {
        // Every PE stores into its own word on every other.
        const auto n = static_cast<std::size_t>(job.n_pes());
        const auto me = static_cast<std::size_t>(job.my_pe());
        SymmetricArray<int> x(job, n);
        const Context& c = job.context();
        const auto tell_everybody = [&](int value) {
            for (int pe = 0; pe < job.n_pes(); ++pe) c.p(&x[me], value, pe);
            c.quiet();
        };
        tell_everybody(1);
        c.wait_until_all(x.data(), n, nullptr, Compare::eq, 1);
        EXPECT_TRUE(c.test_all(x.data(), n, nullptr, Compare::eq, 1));
        job.world().barrier();

        tell_everybody(2);
        std::vector<int> status(n, 0);
        std::set<std::size_t> seen;
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t k = c.wait_until_any(x.data(), n, status.data(), Compare::eq, 2);
            ASSERT_LT(k, n);
            EXPECT_EQ(status[k], 0);
            status[k] = 1;
            seen.insert(k);
        }
        EXPECT_EQ(seen.size(), n);
        EXPECT_EQ(c.wait_until_any(x.data(), n, status.data(), Compare::eq, 2), none);
        job.world().barrier();

        tell_everybody(3);
        std::fill(status.begin(), status.end(), 0);
        std::vector<std::size_t> indices(n);
        for (std::size_t done = 0; done < n;) {
            const std::size_t k =
                c.wait_until_some(x.data(), n, indices.data(), status.data(), Compare::ge, 3);
            ASSERT_GE(k, 1u);
            for (std::size_t i = 0; i < k; ++i) EXPECT_EQ(std::exchange(status[indices[i]], 1), 0);
            done += k;
        }
        job.world().barrier();
    });
}

TEST_P(Waits, VectorsCompareEachWithItsOwn) {
    run([](Job& job) {
        constexpr std::size_t n = 6;
        SymmetricArray<long> x(job, n);
        const Context& c = job.context();
        const std::vector<long> values{10, 11, 12, 13, 14, 15};
        for (std::size_t i = 0; i < n; ++i) c.p(&x[i], values[i], right_of(job));
        c.quiet();
        c.wait_until_all_vector(x.data(), n, nullptr, Compare::eq, values.data());
        EXPECT_TRUE(c.test_all_vector(x.data(), n, nullptr, Compare::eq, values.data()));
        const std::vector<long> one_off{10, 11, 12, 13, 14, 99};
        EXPECT_FALSE(c.test_all_vector(x.data(), n, nullptr, Compare::eq, one_off.data()));
        const std::vector<int> but_last{0, 0, 0, 0, 0, 1};
        EXPECT_TRUE(c.test_all_vector(x.data(), n, but_last.data(), Compare::eq, one_off.data()));
        const std::vector<long> only_third{0, 0, 12, 0, 0, 0};
        EXPECT_EQ(c.wait_until_any_vector(x.data(), n, nullptr, Compare::eq, only_third.data()), 2u);
        EXPECT_EQ(c.test_any_vector(x.data(), n, nullptr, Compare::eq, only_third.data()), 2u);
        std::vector<std::size_t> indices(n);
        const std::vector<long> odd{0, 11, 0, 13, 0, 15};
        EXPECT_EQ(c.wait_until_some_vector(x.data(), n, indices.data(), nullptr, Compare::eq, odd.data()),
                  3u);
        EXPECT_EQ((std::vector<std::size_t>(indices.begin(), indices.begin() + 3)),
                  (std::vector<std::size_t>{1, 3, 5}));
        EXPECT_EQ(c.test_some_vector(x.data(), n, indices.data(), but_last.data(), Compare::eq, odd.data()),
                  2u);
        job.world().barrier();
    });
}

TEST_P(Waits, EmptySetsAreSatisfied) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 3);
        const Context& c = job.context();
        const std::vector<int> all_out{1, 7, -1};
        const std::vector<int> values{5, 5, 5};
        std::vector<std::size_t> indices(3);
        const auto check = [&](std::size_t n, const int* status) {
            c.wait_until_all(x.data(), n, status, Compare::eq, 5);
            c.wait_until_all_vector(x.data(), n, status, Compare::eq, values.data());
            EXPECT_TRUE(c.test_all(x.data(), n, status, Compare::eq, 5));
            EXPECT_TRUE(c.test_all_vector(x.data(), n, status, Compare::eq, values.data()));
            EXPECT_EQ(c.wait_until_any(x.data(), n, status, Compare::eq, 5), none);
            EXPECT_EQ(c.wait_until_any_vector(x.data(), n, status, Compare::eq, values.data()), none);
            EXPECT_EQ(c.test_any(x.data(), n, status, Compare::eq, 5), none);
            EXPECT_EQ(c.test_any_vector(x.data(), n, status, Compare::eq, values.data()), none);
            EXPECT_EQ(c.wait_until_some(x.data(), n, indices.data(), status, Compare::eq, 5), 0u);
            EXPECT_EQ(
                c.wait_until_some_vector(x.data(), n, indices.data(), status, Compare::eq, values.data()),
                0u);
            EXPECT_EQ(c.test_some(x.data(), n, indices.data(), status, Compare::eq, 5), 0u);
            EXPECT_EQ(c.test_some_vector(x.data(), n, indices.data(), status, Compare::eq, values.data()),
                      0u);
        };
        check(3, all_out.data());
        check(0, nullptr);
        c.wait_until_all<int>(nullptr, 0, nullptr, Compare::eq, 1);
        // Not empty, but nothing satisfies: tests return at once.
        EXPECT_FALSE(c.test_all(x.data(), 3, nullptr, Compare::eq, 5));
        EXPECT_EQ(c.test_any(x.data(), 3, nullptr, Compare::eq, 5), none);
        EXPECT_EQ(c.test_some(x.data(), 3, indices.data(), nullptr, Compare::eq, 5), 0u);
        job.world().barrier();
    });
}

TEST_P(Waits, AnyReportsEveryWordInTime) {
    run([](Job& job) {
        constexpr std::size_t n = 4;
        SymmetricArray<int> x(job, n);
        std::fill(x.begin(), x.end(), 1);
        std::vector<int> waited(n), tested(n);
        for (std::size_t i = 0; i < 4 * n; ++i) {
            ++waited[job.context().wait_until_any(x.data(), n, nullptr, Compare::eq, 1)];
            ++tested[job.context().test_any(x.data(), n, nullptr, Compare::eq, 1)];
        }
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_GT(waited[i], 0) << i;
            EXPECT_GT(tested[i], 0) << i;
        }
        job.world().barrier();
    });
}

TEST_P(Waits, TimeoutsNameWhatWasWaitedFor) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 4);
        SymmetricArray<std::uint64_t> signal(job, 1);
        const Context& c = job.context();
        std::fill(x.begin(), x.end(), 1);
        x[2] = -3;
        signal[0] = ~std::uint64_t{0};
        char at[32];
        std::snprintf(at, sizeof at, "heap+%#llx",
                      static_cast<unsigned long long>(reinterpret_cast<char*>(&x[2]) - c.window().mine));
        expect_error(ErrorCode::timeout, {"0.001 s", "wait_until", at, "found -3", ">= 4"},
                     [&] { c.wait_until(&x[2], Compare::ge, 4, 0.001); });
        expect_error(ErrorCode::timeout, {"signal_wait_until", "found 18446744073709551615", "== 7"},
                     [&] { c.signal_wait_until(signal.data(), Compare::eq, 7, 0.001); });
        expect_error(ErrorCode::timeout, {"wait_until_all", at, "found -3", "> 0"},
                     [&] { c.wait_until_all(x.data(), 4, nullptr, Compare::gt, 0, 0.001); });
        const int but_third[] = {1, 1, 0, 1};
        std::size_t indices[4];
        expect_error(ErrorCode::timeout, {"wait_until_any", at, "found -3", "!= -3"},
                     [&] { c.wait_until_any(x.data(), 4, but_third, Compare::ne, -3, 0.001); });
        expect_error(ErrorCode::timeout, {"wait_until_some", at, "< -3"},
                     [&] { c.wait_until_some(x.data(), 4, indices, but_third, Compare::lt, -3, 0.001); });
        const int values[] = {9, 9, 8, 9};
        expect_error(ErrorCode::timeout, {"wait_until_any_vector", at, "== 8"},
                     [&] { c.wait_until_any_vector(x.data(), 4, but_third, Compare::eq, values, 0.001); });
        expect_error(ErrorCode::timeout, {}, [&] { c.wait_until(&x[2], Compare::ge, 4, 0); });
        EXPECT_EQ(c.wait_until(&x[2], Compare::le, 4, 0), -3);  // satisfied already: no time is needed
        job.world().barrier();
    });
}

TEST_P(Waits, OnlyOwnWordsAreWaitedFor) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 4);
        const Context& c = job.context();
        int local = 0;
        expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"},
                     [&] { c.wait_until(&local, Compare::eq, 0); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { c.test(&local, Compare::eq, 0); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { c.test_any(&local, 1, nullptr, Compare::eq, 0); });
        expect_error(ErrorCode::not_symmetric, {}, [&] {
            c.wait_until_all(x.data(), job.heap_use().limit_bytes, nullptr, Compare::eq, 0);
        });
        if (const int pe = right_in_window(job); pe != job.my_pe()) {
            int* theirs = c.window().at(x.data(), job.state().topology().host_slot(pe));
            const std::string name = "PE " + std::to_string(pe) + "'s memory";
            expect_error(ErrorCode::not_symmetric, {name}, [&] { c.wait_until(theirs, Compare::eq, 0); });
            expect_error(ErrorCode::not_symmetric, {name},
                         [&] { c.wait_until_any(theirs, 2, nullptr, Compare::eq, 0); });
        }
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Waits, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
