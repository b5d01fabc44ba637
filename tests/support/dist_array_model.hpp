// Distributed arrays against a model: one ordinary array that every PE changes in the same way.
#pragma once

#include "atoll/dist_array.hpp"
#include "support/setups.hpp"

#include <algorithm>
#include <numeric>

namespace atl::testing {

template <std::size_t N> std::vector<DistOptions<N>> some_options(int n) {
    std::vector<DistOptions<N>> options(3);
    for (std::size_t axis = 0; axis < N; ++axis) {
        options[1].dist[axis] = Distribution::cyclic(static_cast<std::ptrdiff_t>(axis) + 1);
        options[2].dist[axis] = axis == 0 ? Distribution::cyclic(3) : Distribution::whole();
    }
    options[0].halo[N - 1] = {1, 1};
    options[2].grid[0] = n;
    options.push_back({});  // a copy on each PE
    options.back().dist.fill(Distribution::replicated());
    if (N == 1) return options;
    options.push_back({});  // copies of each part, of which there are several if the number of PEs is even
    const std::ptrdiff_t parts = n % 2 == 0 ? 2 : 1;
    options.back().dist[0] = Distribution::replicated();
    options.back().dist[N - 1] = Distribution::cyclic(2);
    for (std::size_t axis = 1; axis + 1 < N; ++axis) options.back().grid[axis] = 1;
    options.back().grid[0] = n / parts;
    options.back().grid[N - 1] = parts;
    return options;
}

/// The first PE whose part has an element.
template <std::size_t N> int first_with(const DistArray<int, N>& array, const Index<N>& index) {
    for (int pe = 0; pe < array.team().n_pes(); ++pe) {
        bool has = true;
        for (std::size_t axis = 0; axis < N; ++axis) {
            const std::vector<std::ptrdiff_t> own = array.global_indices(axis, pe);
            has = has && std::binary_search(own.begin(), own.end(), index[axis]);
        }
        if (has) return pe;
    }
    return -1;
}

inline Range random_range(std::mt19937& random, std::ptrdiff_t length) {
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
template <std::size_t N>
void compare_boxes(const Team& team, const Index<N>& shape, const DistOptions<N>& options) {
    DistArray<int, N> array(team, shape, options);
    std::vector<int> whole(count_of(shape));
    const View<int, N> model(whole.data(), shape);
    std::mt19937 random(7);  // the same on all PEs
    for (int round = 0; round < 12; ++round) {
        const Box<N> box = random_box(random, shape);
        std::vector<int> values(count_of(extents_of(box)));
        std::iota(values.begin(), values.end(), 1000 * round + 1);
        if (round % team.n_pes() == team.my_pe()) array.put(box, values);
        const View<int, N> given(values.data(), extents_of(box));
        given.for_each_index([&](const Index<N>& at) { model.box(box)[at] = given[at]; });
        team.barrier();

        const Box<N> wanted = random_box(random, shape);
        const std::vector<int> got = array.get(wanted);
        std::vector<int> expected;
        model.box(wanted).for_each_index(
            [&](const Index<N>& at) { expected.push_back(model.box(wanted)[at]); });
        ASSERT_EQ(got, expected) << "round " << round;
        team.barrier();
    }
    ASSERT_EQ(array.to_vector(), whole);
    std::size_t owned = 0;
    array.for_each_local([&](const Index<N>& at, const int& element) {
        ++owned;
        ASSERT_EQ(element, model[at]);
        ASSERT_EQ(array.owner(at), first_with(array, at));
        ASSERT_EQ(array.g(at), element);
    });
    ASSERT_EQ(owned, array.local().size());
    array.free();
}

/// The value beyond the ends of an axis, for an array whose elements are their own numbers in C order.
inline std::ptrdiff_t index_seen(std::ptrdiff_t index, std::ptrdiff_t length, Border border) {
    if (border == Border::periodic) return (index + length) % length;
    if (border == Border::reflect)
        return index < 0 ? -index : index >= length ? 2 * length - 2 - index : index;
    if (border == Border::symmetric)
        return index < 0 ? -index - 1 : index >= length ? 2 * length - 1 - index : index;
    if (border == Border::edge) return std::clamp<std::ptrdiff_t>(index, 0, length - 1);
    return index;
}

inline void compare_halo(const Team& team, const std::array<Border, 2>& borders,
                         const std::array<Halo, 2>& halo) {
    const std::ptrdiff_t rows = 3 * team.n_pes() + 1, columns = 3 * team.n_pes() + 2;
    DistArray<double, 2> array(team, {rows, columns}, {.halo = halo});
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
    team.barrier();
    array.free();
}

}  // namespace atl::testing
