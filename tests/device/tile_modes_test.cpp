// Tiles of one to four modes, and rooted collectives on them, with PEs as threads on the host heap. Each
// layout is checked against a model, with its surroundings.
#include "device/pes.hpp"

#include <algorithm>

namespace atl::testing {
namespace {

template <int Modes> struct Pattern {
    unsigned extent[Modes];
    long long dst[Modes], src[Modes];  ///< strides
};

constexpr std::size_t room = 4000;
constexpr float untouched = -5;

float value_of(int pe, std::size_t number) {
    return static_cast<float>(1 + (static_cast<std::size_t>(pe) * 7 + number * 3) % 29);
}

/// Calls each(number of the element, offset in dst, offset in src).
template <int Modes, class Each> void for_elements(const Pattern<Modes>& p, Each each) {
    std::size_t all = 1;
    for (const unsigned extent : p.extent) all *= extent;
    for (std::size_t number = 0; number < all; ++number) {
        std::size_t rest = number, to = 0, from = 0;
        for (int m = 0; m < Modes; ++m) {
            const std::size_t i = rest % p.extent[m];
            rest /= p.extent[m];
            to += i * static_cast<std::size_t>(p.dst[m]);
            from += i * static_cast<std::size_t>(p.src[m]);
        }
        each(number, to, from);
    }
}

/// One call of all members on arrays with known contents; `expected` is of (number of the element).
template <int Modes> class Checked {
  public:
    Checked(Job& job, const Pattern<Modes>& pattern)
        : pattern_(pattern), team(job.world().device(Memory::host)), src_(job, room), dst_(job, room) {
        dst = {dst_.data(), {}, {}};
        src = {src_.data(), {}, {}};
        for (int m = 0; m < Modes; ++m) {
            dst.extent[m] = src.extent[m] = pattern.extent[m];
            dst.stride[m] = pattern.dst[m];
            src.stride[m] = pattern.src[m];
        }
    }
    template <class Call, class Expected> void check(const char* what, Call call, Expected expected) {
        device::sync(team);
        std::fill(dst_.span().begin(), dst_.span().end(), untouched);
        for_elements(pattern_, [&](std::size_t number, std::size_t, std::size_t from) {
            src.data[from] = value_of(team.my_pe, number);
        });
        device::sync(team);
        call();
        device::sync(team);
        std::vector<float> wanted(room, untouched);
        for_elements(pattern_,
                     [&](std::size_t number, std::size_t to, std::size_t) { wanted[to] = expected(number); });
        for (std::size_t i = 0; i < room; ++i)
            ASSERT_EQ(dst_[i], wanted[i]) << what << " of " << Modes << " modes, place " << i;
    }

  private:
    Pattern<Modes> pattern_;

  public:
    device::Team team;
    device::TileOf<float, Modes> dst, src;

  private:
    SymmetricArray<float> src_, dst_;
};

template <int Modes> void every_call(Job& job, const Pattern<Modes>& pattern) {
    Checked<Modes> c(job, pattern);
    const int me = c.team.my_pe, n = c.team.n_pes, right = right_of(job), left = left_of(job), last = n - 1;
    const auto sum = [&](std::size_t number) {
        float total = 0;
        for (int pe = 0; pe < n; ++pe) total += value_of(pe, number);
        return total;
    };
    c.check(
        "tile_put", [&] { device::tile_put(c.team, c.dst, c.src, right); },
        [&](std::size_t number) { return value_of(left, number); });
    c.check(
        "tile_get", [&] { device::tile_get(c.team, c.dst, c.src, right); },
        [&](std::size_t number) { return value_of(right, number); });
    c.check(
        "tile_reduce", [&] { device::tile_reduce(c.team, c.dst, c.src, device::Sum{}); }, sum);
    c.check(
        "tile_rooted_reduce", [&] { device::tile_rooted_reduce(c.team, c.dst, c.src, device::Sum{}, last); },
        [&](std::size_t number) { return me == last ? sum(number) : untouched; });
    c.check(
        "tile_broadcast", [&] { device::tile_broadcast(c.team, c.dst, c.src, last); },
        [&](std::size_t number) { return value_of(last, number); });
    device::sync(c.team);
}

/// The parts of all members side by side along the first of two modes, whose extent in dst is n times src's.
void gathers(Job& job) {
    const device::Team team = job.world().device(Memory::host);
    SymmetricArray<float> src(job, 6), dst(job, 6 * static_cast<std::size_t>(team.n_pes));
    for (std::size_t i = 0; i < 6; ++i) src[i] = value_of(team.my_pe, i);
    const auto wide = static_cast<unsigned>(2 * team.n_pes);
    const device::TileOf<float, 2> from{src.data(), {2, 3}, {1, 2}}, to{dst.data(), {wide, 3}, {1, wide}};
    device::tile_allgather(team, to, from, 0);
    for (unsigned col = 0; col < 3; ++col)
        for (unsigned row = 0; row < wide; ++row)
            ASSERT_EQ(dst[col * wide + row], value_of(static_cast<int>(row / 2), col * 2 + row % 2));
    device::sync(team);
}

class DeviceTileModes : public ::testing::TestWithParam<int> {};

TEST_P(DeviceTileModes, OfEveryLayout) {
    run_device_pes(GetParam(), [](Job& job) {
        every_call<1>(job, {{17}, {1}, {1}});
        every_call<1>(job, {{9}, {3}, {2}});
        every_call<2>(job, {{8, 16}, {16, 1}, {20, 1}});
        every_call<2>(job, {{8, 16}, {1, 8}, {1, 12}});
        every_call<2>(job, {{5, 7}, {7, 1}, {1, 5}});  // transposed
        every_call<3>(job, {{4, 6, 8}, {48, 8, 1}, {100, 12, 1}});
        every_call<3>(job, {{3, 1, 5}, {1, 3, 6}, {1, 50, 4}});
        every_call<3>(job, {{4, 0, 2}, {1, 4, 8}, {1, 4, 8}});
        every_call<4>(job, {{2, 3, 4, 5}, {60, 20, 5, 1}, {1, 2, 6, 24}});
        gathers(job);
        job.world().barrier();
    });
}

TEST_P(DeviceTileModes, CollectivesWithARootTakeTilesOfRows) {
    run_device_pes(GetParam(), [](Job& job) {
        const device::Team team = job.world().device(Memory::host);
        SymmetricArray<int> src(job, 12), dst(job, 12);
        for (std::size_t i = 0; i < 12; ++i) src[i] = team.my_pe + static_cast<int>(i);
        const auto from = device::make_tile(src.data(), 3, 4, 4), to = device::make_tile(dst.data(), 3, 4, 4);
        device::sync(team);
        device::tile_broadcast(team, to, from, 0);
        for (std::size_t i = 0; i < 12; ++i) ASSERT_EQ(dst[i], static_cast<int>(i));
        device::tile_rooted_reduce(team, to, from, device::Max{}, 0);
        for (std::size_t i = 0; i < 12 && team.my_pe == 0; ++i)
            ASSERT_EQ(dst[i], team.n_pes - 1 + static_cast<int>(i));
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DeviceTileModes, ::testing::ValuesIn(device_pe_counts()));

}  // namespace
}  // namespace atl::testing
