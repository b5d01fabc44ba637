// Puts and gets: every small size at every alignment, types, the non-blocking forms, and rejected arguments.
#include "support/setups.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <complex>
#include <cstring>

namespace atl::testing {
namespace {

class Rma : public WithPes {};

std::vector<unsigned char> noise(std::size_t bytes, int seed) {
    auto random = random_numbers(seed);
    std::vector<unsigned char> data(bytes);
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
        const auto word = static_cast<std::uint32_t>(random());
        std::memcpy(data.data() + at, &word, std::min(sizeof word, bytes - at));
    }
    return data;
}

TEST_P(Rma, EverySmallSizeAtEveryAlignment) {
    run([](Job& job) {
        constexpr std::size_t room = 160;
        SymmetricArray<unsigned char> target(job, room);
        const int pe = right_of(job);
        const Context& context = job.context();
        const auto source = noise(room, job.my_pe());
        std::vector<unsigned char> model(room), back(room);
        for (std::size_t bytes = 0; bytes <= 130; ++bytes)
            for (const std::size_t to : {0u, 1u, 2u, 4u, 7u, 8u, 15u})
                for (const std::size_t from : {0u, 1u, 4u, 8u, 11u}) {
                    context.put(target.data() + to, source.data() + from, bytes, pe);
                    if (bytes != 0) std::memcpy(model.data() + to, source.data() + from, bytes);
                    context.quiet();
                    // Nothing beside the range may change either.
                    context.get(back.data(), target.data(), room, pe);
                    ASSERT_EQ(back, model) << bytes << " bytes from " << from << " to " << to;
                }
        job.world().barrier();
    });
}

TEST_P(Rma, GetsAtEveryAlignment) {
    run([](Job& job) {
        SymmetricArray<unsigned char> source(job, 160);
        const auto mine = noise(160, job.my_pe());
        std::copy(mine.begin(), mine.end(), source.begin());
        job.world().barrier();
        const int pe = right_of(job);
        const auto theirs = noise(160, pe);
        for (std::size_t bytes = 0; bytes <= 130; ++bytes)
            for (const std::size_t from : {0u, 1u, 3u, 4u, 8u, 13u}) {
                std::vector<unsigned char> got(160, 0xee), expected(160, 0xee);
                const std::size_t to = (bytes + from) % 9;
                job.context().get(got.data() + to, source.data() + from, bytes, pe);
                std::copy_n(theirs.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                            expected.begin() + static_cast<std::ptrdiff_t>(to));
                ASSERT_EQ(got, expected) << bytes << " bytes from " << from;
            }
        job.world().barrier();
    });
}

TEST_P(Rma, LargeCopies) {
    run([](Job& job) {
        constexpr std::size_t most = 1 << 20;
        SymmetricArray<unsigned char> target(job, most + 64);
        for (const std::size_t bytes : {4096u, 65'535u, 65'536u, 65'537u, 1u << 20}) {
            const auto mine = noise(bytes, job.my_pe() + static_cast<int>(bytes));
            job.context().put(target.data() + bytes % 7, mine.data(), bytes, right_of(job));
            job.world().barrier();
            const auto theirs = noise(bytes, left_of(job) + static_cast<int>(bytes));
            EXPECT_EQ(std::memcmp(target.data() + bytes % 7, theirs.data(), bytes), 0);
            std::vector<unsigned char> back(bytes);
            job.context().get(back.data(), target.data() + bytes % 7, bytes, right_of(job));
            EXPECT_EQ(back, mine);
            job.world().barrier();
        }
    });
}

template <class T> void round_trip(Job& job, T a, T b) {
    SymmetricArray<T> x(job, 4);
    const Context& context = job.context();
    const int pe = right_of(job);
    context.p(x.data(), a, pe);
    context.quiet();
    EXPECT_TRUE(std::memcmp(&a, &b, sizeof a) != 0);
    EXPECT_EQ(context.g(x.data(), pe), a);
    const std::array<T, 3> values{b, a, b};
    context.put(x.subspan(1), values, pe);
    context.quiet();
    std::array<T, 4> got{};
    context.get(std::span<T>(got), x.span(), pe);
    EXPECT_EQ(got, (std::array<T, 4>{a, b, a, b}));
    job.world().barrier();
    x.free();
}

struct Three {
    char bytes[3];
    bool operator==(const Three&) const = default;
};

TEST_P(Rma, Types) {
    run([](Job& job) {
        round_trip<char>(job, 'x', 'y');
        round_trip<signed char>(job, -128, 127);
        round_trip<std::uint8_t>(job, 255, 0);
        round_trip<short>(job, -32768, 1);
        round_trip<std::uint16_t>(job, 65535, 1);
        round_trip<int>(job, INT_MIN, INT_MAX);
        round_trip<unsigned>(job, UINT_MAX, 0);
        round_trip<long>(job, LONG_MIN, LONG_MAX);
        round_trip<unsigned long long>(job, ULLONG_MAX, 1);
        round_trip<float>(job, 1.5f, -0.25f);
        round_trip<double>(job, 1e300, -1e-300);
        round_trip<long double>(job, 1.5L, -2.25L);
        round_trip<std::complex<float>>(job, {1, 2}, {3, 4});
        round_trip<std::complex<double>>(job, {1, 2}, {3, -4});
        round_trip<bool>(job, true, false);
        round_trip<Three>(job, {{1, 2, 3}}, {{4, 5, 6}});
    });
}

TEST_P(Rma, NonBlockingFormsCompleteAtQuiet) {
    run([](Job& job) {
        constexpr std::size_t n = 500;
        SymmetricArray<int> target(job, n), source(job, n);
        for (std::size_t i = 0; i < n; ++i) source[i] = static_cast<int>(i) + 1000 * job.my_pe();
        job.world().barrier();
        std::vector<int> mine(n), got(n);
        for (std::size_t i = 0; i < n; ++i) mine[i] = -static_cast<int>(i) - 1000 * job.my_pe();
        const int pe = right_of(job);
        for (std::size_t i = 0; i < n; i += 50) {
            job.context().put_nbi(target.data() + i, mine.data() + i, 50, pe);
            job.context().get_nbi(got.data() + i, source.data() + i, 50, pe);
        }
        job.context().quiet();
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], static_cast<int>(i) + 1000 * pe);
        job.world().barrier();
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(target[i], -static_cast<int>(i) - 1000 * left_of(job));
    });
}

TEST_P(Rma, ToItself) {
    run([](Job& job) {
        SymmetricArray<long> x(job, 100), y(job, 100);
        for (std::size_t i = 0; i < 100; ++i) x[i] = static_cast<long>(i);
        job.context().put(y.data(), x.data(), 100, job.my_pe());
        job.context().quiet();
        EXPECT_TRUE(std::equal(x.begin(), x.end(), y.begin()));
        EXPECT_EQ(job.context().ptr(x.data(), job.my_pe()), x.data());
        job.world().barrier();
    });
}

TEST_P(Rma, NothingIsLegal) {
    run([](Job& job) {
        const Context& context = job.context();
        context.put<int>(nullptr, nullptr, 0, 0);
        context.get<int>(nullptr, nullptr, 0, job.n_pes() - 1);
        context.iput<int>(nullptr, nullptr, 1, 1, 0, 0);
        context.iget<int>(nullptr, nullptr, 1, 1, 0, 0);
        context.ibput<int>(nullptr, nullptr, 5, 5, 0, 7, 0);
        expect_error(ErrorCode::pe, {}, [&] { context.put<int>(nullptr, nullptr, 0, job.n_pes()); });
    });
}

TEST_P(Rma, BadPesAreNamed) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 10);
        int y[10] = {};
        const Context& context = job.context();
        for (const int pe : {-1, job.n_pes(), INT_MAX, INT_MIN}) {
            const std::string name = "PE " + std::to_string(pe);
            expect_error(ErrorCode::pe, {name}, [&] { context.put(x.data(), y, 10, pe); });
            expect_error(ErrorCode::pe, {name}, [&] { context.get(y, x.data(), 10, pe); });
            expect_error(ErrorCode::pe, {name}, [&] { context.p(x.data(), 1, pe); });
            expect_error(ErrorCode::pe, {name}, [&] { context.iput(x.data(), y, 2, 1, 3, pe); });
            expect_error(ErrorCode::pe, {name}, [&] { context.atomic_add(x.data(), 1, pe); });
            expect_error(ErrorCode::pe, {name}, [&] { context.ptr(x.data(), pe); });
            expect_error(ErrorCode::pe, {name}, [&] { context.pe_quiet(std::span(&pe, 1)); });
        }
        job.world().barrier();
    });
}

TEST_P(Rma, BadAddressesAreNamed) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 10);
        int y[10] = {};
        const Context& context = job.context();
        const int pe = right_of(job);
        const auto heap_bytes = job.heap_use().limit_bytes;
        volatile std::ptrdiff_t huge_stride = PTRDIFF_MAX / 8;  // volatile: the compiler would warn about it
        expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"},
                     [&] { context.put(y, y, 10, pe); });
        expect_error(ErrorCode::not_symmetric, {"not in the symmetric heap"},
                     [&] { context.get(y, y, 10, pe); });
        expect_error(ErrorCode::not_symmetric, {"past the end"},
                     [&] { context.put(x.data(), y, heap_bytes / sizeof(int) + 1, pe); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { context.put(x.data(), y, SIZE_MAX, pe); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { context.put(x.data(), y, SIZE_MAX / 4 + 2, pe); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { context.iput(x.data(), y, huge_stride, 1, 9, pe); });
        expect_error(ErrorCode::not_symmetric, {}, [&] { context.put<int>(nullptr, y, 1, pe); });
        if (const int neighbour = right_in_window(job); neighbour != job.my_pe()) {
            int* theirs = context.window().at(x.data(), job.state().topology().host_slot(neighbour));
            expect_error(ErrorCode::not_symmetric, {"PE " + std::to_string(neighbour) + "'s memory"},
                         [&] { context.put(theirs, y, 10, pe); });
        }
        expect_error(ErrorCode::shape_mismatch, {"4", "10"}, [&] { context.put(x.subspan(0, 4), y, pe); });
        expect_error(ErrorCode::shape_mismatch, {"3", "10"},
                     [&] { context.get(std::span(y).first(3), std::span<const int>(x.span()), pe); });
        context.put(x.span(), y, pe);  // all still works
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Rma, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
