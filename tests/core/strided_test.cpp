// Strided and block-strided copies against a model that moves one element at a time.
#include "support/setups.hpp"

#include <numeric>

namespace atl::testing {
namespace {

class Strided : public WithPes {};

struct Shape {
    std::ptrdiff_t dst_stride, src_stride;
    std::size_t block, n_blocks, dst_from, src_from;
};

constexpr std::size_t room = 400;

Shape random_shape(std::mt19937& random) {
    for (;;) {
        Shape s{};
        s.block = 1 + below(random, 6);
        s.n_blocks = 1 + below(random, 20);
        s.dst_stride = static_cast<std::ptrdiff_t>(s.block + below(random, 12));
        s.src_stride = static_cast<std::ptrdiff_t>(s.block + below(random, 12));
        s.dst_from = below(random, 40);
        s.src_from = below(random, 40);
        const auto last = static_cast<std::ptrdiff_t>(s.n_blocks - 1);
        const auto end = [&](std::size_t from, std::ptrdiff_t stride) {
            return static_cast<std::ptrdiff_t>(from + s.block) + last * stride;
        };
        constexpr auto limit = static_cast<std::ptrdiff_t>(room);
        if (end(s.dst_from, s.dst_stride) <= limit && end(s.src_from, s.src_stride) <= limit) return s;
    }
}

template <class T> void model(std::vector<T>& dst, const std::vector<T>& src, const Shape& s) {
    for (std::size_t i = 0; i < s.n_blocks; ++i)
        for (std::size_t k = 0; k < s.block; ++k)
            dst[s.dst_from + i * static_cast<std::size_t>(s.dst_stride) + k] =
                src[s.src_from + i * static_cast<std::size_t>(s.src_stride) + k];
}

template <class T> void compare_puts(Job& job, int rounds) {
    SymmetricArray<T> target(job, room);
    std::vector<T> source(room), expected(room), back(room);
    auto random = random_numbers(job.my_pe() + 10);
    const int pe = right_of(job);
    for (int round = 0; round < rounds; ++round) {
        for (T& x : source) x = static_cast<T>(random());
        const Shape s = random_shape(random);
        T* dst = target.data() + s.dst_from;
        const T* src = source.data() + s.src_from;
        if (s.block == 1)
            job.context().iput(dst, src, s.dst_stride, s.src_stride, s.n_blocks, pe);
        else
            job.context().ibput(dst, src, s.dst_stride, s.src_stride, s.block, s.n_blocks, pe);
        model(expected, source, s);
        job.context().quiet();
        job.context().get(back.data(), target.data(), room, pe);
        ASSERT_EQ(back, expected);
    }
    job.world().barrier();
}

template <class T> void compare_gets(Job& job, int rounds) {
    SymmetricArray<T> source(job, room);
    std::iota(source.begin(), source.end(), static_cast<T>(3 * job.my_pe()));
    job.world().barrier();
    const int pe = right_of(job);
    std::vector<T> theirs(room), got(room), expected(room);
    std::iota(theirs.begin(), theirs.end(), static_cast<T>(3 * pe));
    auto random = random_numbers(job.my_pe() + 20);
    for (int round = 0; round < rounds; ++round) {
        const Shape s = random_shape(random);
        T* dst = got.data() + s.dst_from;
        const T* src = source.data() + s.src_from;
        if (s.block == 1)
            job.context().iget(dst, src, s.dst_stride, s.src_stride, s.n_blocks, pe);
        else
            job.context().ibget(dst, src, s.dst_stride, s.src_stride, s.block, s.n_blocks, pe);
        model(expected, theirs, s);
        ASSERT_EQ(got, expected);
    }
    job.world().barrier();
}

TEST_P(Strided, PutsMatchTheModel) {
    run([](Job& job) {
        compare_puts<std::uint8_t>(job, 60);
        compare_puts<short>(job, 60);
        compare_puts<float>(job, 60);
        compare_puts<double>(job, 60);
        compare_puts<long double>(job, 30);
    });
}

TEST_P(Strided, GetsMatchTheModel) {
    run([](Job& job) {
        compare_gets<std::uint8_t>(job, 60);
        compare_gets<int>(job, 60);
        compare_gets<double>(job, 60);
    });
}

TEST_P(Strided, BadStridesAreRefused) {
    run([](Job& job) {
        SymmetricArray<int> x(job, 100);
        int y[100] = {};
        const Context& context = job.context();
        expect_error(ErrorCode::invalid_argument, {"is 0", "Strides"},
                     [&] { context.iput(x.data(), y, 0, 1, 5, 0); });
        expect_error(ErrorCode::invalid_argument, {"-1"}, [&] { context.iget(y, x.data(), 1, -1, 5, 0); });
        expect_error(ErrorCode::invalid_argument, {"-3"},
                     [&] { context.ibput(x.data(), y, -3, 5, 2, 5, 0); });
        const std::size_t heap = job.heap_use().limit_bytes / sizeof(int);
        expect_error(ErrorCode::not_symmetric, {"past the end"},
                     [&] { context.iput(x.data(), y, static_cast<std::ptrdiff_t>(heap / 2), 1, 3, 0); });
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Strided, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
