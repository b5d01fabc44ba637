// Distributed arrays against a model: one ordinary array that every PE changes in the same way.
#include "atoll/dist_array.hpp"
#include "support/setups.hpp"

#include <numeric>

namespace atl::testing {
namespace {

class DistArrays : public WithPes {};

template <std::size_t N> std::vector<DistOptions<N>> some_options(int n) {
    std::vector<DistOptions<N>> options(3);
    for (std::size_t axis = 0; axis < N; ++axis) {
        options[1].dist[axis] = Distribution::cyclic(static_cast<std::ptrdiff_t>(axis) + 1);
        options[2].dist[axis] = axis == 0 ? Distribution::cyclic(3) : Distribution::whole();
    }
    options[0].halo[N - 1] = {1, 1};
    options[2].grid[0] = n;
    return options;
}

Range random_range(std::mt19937& random, std::ptrdiff_t length) {
    if (length == 0) return {};
    const auto start = static_cast<std::ptrdiff_t>(below(random, static_cast<std::size_t>(length)));
    const auto stop =
        start + static_cast<std::ptrdiff_t>(below(random, static_cast<std::size_t>(length - start) + 1));
    return {start, stop, 1 + static_cast<std::ptrdiff_t>(below(random, 3))};
}

template <std::size_t N> Box<N> random_box(std::mt19937& random, const Index<N>& shape) {
    Box<N> box{};
    for (std::size_t axis = 0; axis < N; ++axis) box[axis] = random_range(random, shape[axis]);
    return box;
}

/// Each PE in turn puts a random box; then all get another one.
template <std::size_t N> void compare_boxes(Job& job, const Index<N>& shape, const DistOptions<N>& options) {
    DistArray<int, N> array(job, shape, options);
    std::vector<int> whole(count_of(shape));
    const View<int, N> model(whole.data(), shape);
    std::mt19937 random(7);  // the same on all PEs
    for (int round = 0; round < 12; ++round) {
        const Box<N> box = random_box(random, shape);
        std::vector<int> values(count_of(extents_of(box)));
        std::iota(values.begin(), values.end(), 1000 * round + 1);
        if (round % job.n_pes() == job.my_pe()) array.put(box, values);
        const View<int, N> given(values.data(), extents_of(box));
        given.for_each_index([&](const Index<N>& at) { model.box(box)[at] = given[at]; });
        job.world().barrier();

        const Box<N> wanted = random_box(random, shape);
        const std::vector<int> got = array.get(wanted);
        std::vector<int> expected;
        model.box(wanted).for_each_index(
            [&](const Index<N>& at) { expected.push_back(model.box(wanted)[at]); });
        ASSERT_EQ(got, expected) << "round " << round;
        job.world().barrier();
    }
    ASSERT_EQ(array.to_vector(), whole);
    std::size_t owned = 0;
    array.for_each_local([&](const Index<N>& at, const int& element) {
        ++owned;
        ASSERT_EQ(element, model[at]);
        ASSERT_EQ(array.owner(at), job.my_pe());
        ASSERT_EQ(array.g(at), element);
    });
    ASSERT_EQ(owned, array.local().size());
    array.free();
}

TEST_P(DistArrays, BoxesAreReadAndWrittenFromAnyPe) {
    run([](Job& job) {
        for (const auto& options : some_options<1>(job.n_pes())) compare_boxes<1>(job, {29}, options);
        for (const auto& options : some_options<2>(job.n_pes())) compare_boxes<2>(job, {17, 15}, options);
        for (const auto& options : some_options<3>(job.n_pes())) compare_boxes<3>(job, {8, 5, 9}, options);
        compare_boxes<2>(job, {0, 3}, {});
    });
}

/// The value beyond the ends of an axis, for an array whose elements are their own numbers in C order.
std::ptrdiff_t index_seen(std::ptrdiff_t index, std::ptrdiff_t length, Border border) {
    if (border == Border::periodic) return (index + length) % length;
    if (border == Border::reflect)
        return index < 0 ? -index : index >= length ? 2 * length - 2 - index : index;
    return index;
}

void compare_halo(Job& job, const std::array<Border, 2>& borders, const std::array<Halo, 2>& halo) {
    const std::ptrdiff_t rows = 3 * job.n_pes() + 1, columns = 3 * job.n_pes() + 2;
    DistArray<double, 2> array(job, {rows, columns}, {.halo = halo});
    for (int round = 1; round <= 3; ++round) {
        array.for_each_local([&](const Index<2>& at, double& element) {
            element = static_cast<double>(round * 10000 + at[0] * columns + at[1]);
        });
        round == 1 ? array.exchange_halo(borders) : array.exchange_halo();
        const Box<2> part = array.bounds();
        const View<double, 2> padded = array.local_with_halo();
        padded.for_each_index([&](const Index<2>& at) {
            const std::ptrdiff_t i = index_seen(part[0].start - halo[0].before + at[0], rows, borders[0]);
            const std::ptrdiff_t j = index_seen(part[1].start - halo[1].before + at[1], columns, borders[1]);
            const bool beyond = i < 0 || i >= rows || j < 0 || j >= columns;
            ASSERT_EQ(padded[at], beyond ? 0.0 : static_cast<double>(round * 10000 + i * columns + j))
                << at[0] << " " << at[1] << " in round " << round;
        });
    }
    job.world().barrier();
    array.free();
}

TEST_P(DistArrays, HalosHoldTheNeighboursElements) {
    run([](Job& job) {
        compare_halo(job, {Border::fixed, Border::fixed}, {1, 1});
        compare_halo(job, {Border::periodic, Border::periodic}, {Halo(2, 1), Halo(1, 3)});
        compare_halo(job, {Border::periodic, Border::reflect}, {Halo(0, 2), Halo(2, 2)});
    });
}

TEST_P(DistArrays, AreRedistributed) {
    run([](Job& job) {
        const int n = job.n_pes();
        DistArray<std::int64_t, 2> rows(job, {13, 11},
                                        {.dist = {Distribution::block(), Distribution::whole()}});
        rows.for_each_local([](const Index<2>& at, std::int64_t& element) { element = at[0] * 11 + at[1]; });
        std::vector<std::ptrdiff_t> bounds(static_cast<std::size_t>(n) + 1, 13);
        bounds[0] = 0;  // PE 0 has all rows but one, which the last PE has
        for (std::size_t i = 1; i + 1 < bounds.size(); ++i) bounds[i] = 12;
        for (const DistOptions<2>& options :
             {DistOptions<2>{.dist = {Distribution::whole(), Distribution::cyclic(2)}},
              DistOptions<2>{.dist = {Distribution::bounds(bounds), Distribution::whole()}}}) {
            const DistArray<std::int64_t, 2> other = rows.redistribute(job, options);
            other.for_each_local([](const Index<2>& at, const std::int64_t& element) {
                ASSERT_EQ(element, at[0] * 11 + at[1]);
            });
            std::vector<std::int64_t> expected(13 * 11);
            std::iota(expected.begin(), expected.end(), 0);
            ASSERT_EQ(other.to_vector(), expected);
        }
    });
}

TEST_P(DistArrays, AccumulateLosesNothing) {
    run([](Job& job) {
        DistArray<std::int64_t, 2> array(job, {6, 7});
        const Box<2> box{Range{1, 6, 2}, Range{0, 7}};
        const std::vector<std::int64_t> ones(3 * 7, 1);
        for (int round = 0; round < 5; ++round) array.accumulate(box, ones, 2);
        array.fetch_add({0, 3}, 1);
        job.world().barrier();
        const std::vector<std::int64_t> all = array.to_vector();
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::int64_t expected = i == 3 ? 1 : i / 7 % 2 == 1 ? 10 : 0;
            ASSERT_EQ(all[i], expected * job.n_pes()) << i;
        }
    });
}

TEST_P(DistArrays, WrongArgumentsAreNamed) {
    run([](Job& job) {
        DistArray<float, 2> array(job, {4, 6});
        std::vector<float> values(4);
        expect_error(ErrorCode::invalid_argument,
                     {"put: the range 2 to 5 in steps of 1 of axis 0; expected 0 <= start"}, [&] {
                         array.put(Box<2>{Range{2, 5}, Range{0, 1}}, values);
                     });
        expect_error(ErrorCode::invalid_argument, {"get: the range 0 to 2 in steps of 0 of axis 1"}, [&] {
            (void)array.get(Box<2>{Range{0, 4}, Range{0, 2, 0}});
        });
        expect_error(ErrorCode::shape_mismatch, {"put: 4 elements for a box of {2, 3}"}, [&] {
            array.put(Box<2>{Range{0, 2}, Range{0, 3}}, values);
        });
        expect_error(ErrorCode::shape_mismatch, {"get: the array has lengths {4, 1}, and the box {1, 4}"},
                     [&] {
                         array.get(Box<2>{Range{0, 1}, Range{0, 4}}, View<float, 2>(values.data(), {4, 1}));
                     });
        expect_error(ErrorCode::invalid_argument, {"g: index {0, 6} of an array of shape {4, 6}"}, [&] {
            (void)array.g({0, 6});
        });
        expect_error(ErrorCode::pe, {"the job has PEs 0 to"}, [&] { (void)array.bounds(-1); });
        expect_error(ErrorCode::invalid_argument, {"has no halo"}, [&] { array.exchange_halo(); });
        expect_error(ErrorCode::invalid_argument, {"{3, 5} (0: any number) does not divide"}, [&] {
            DistArray<float, 2>(job, {4, 6}, {.grid = {3, 5}});
        });
        expect_error(ErrorCode::invalid_argument, {"a halo of 9 and 9 is wider than the smallest part"},
                     [&] { DistArray<float, 1>(job, {8}, {.halo = {9}}); });
        expect_error(ErrorCode::invalid_argument, {"bounds {0, 3} do not ascend from 0 to 4"}, [&] {
            DistOptions<2> options;
            options.dist = {Distribution::bounds({0, 3}), Distribution::block()};
            DistArray<float, 2>(job, {4, 6}, options);
        });
    });
}

TEST_P(DistArrays, DifferentShapesAreNamedOnEveryPe) {
    run([](Job& job) {
        if (job.n_pes() == 1) return;
        const std::ptrdiff_t rows = job.my_pe() == 1 ? 5 : 4;
        expect_error(ErrorCode::collective_mismatch, {"PE 1 passed another shape"}, [&] {
            DistArray<int, 2>(job, {rows, 6});
        });
        DistArray<int, 2> usable(job, {4, 6});
        usable.p({3, 5}, 1);
        job.world().barrier();
        EXPECT_EQ(usable.g({3, 5}), 1);
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DistArrays, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
