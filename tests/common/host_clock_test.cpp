#include "common/recorder/host_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace atl::common {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

/// A clock that began at another time and runs at another speed.
struct OtherClock {
    std::int64_t offset_ns = 0;
    double drift = 0;  ///< beyond this host's
    std::uint64_t at(std::uint64_t here_ns) const {
        return here_ns +
               static_cast<std::uint64_t>(offset_ns + std::llround(static_cast<double>(here_ns) * drift));
    }
};

/// The sample of a question whose ways there and back take these times.
ClockSample asked(const OtherClock& other, std::uint64_t at_ns, std::uint64_t there_ns,
                  std::uint64_t back_ns) {
    return ClockSample::of(at_ns, other.at(at_ns + there_ns), at_ns + there_ns + back_ns);
}

double error_at(const ClockMap& map, const OtherClock& other, std::uint64_t here_ns) {
    return std::abs(
        static_cast<double>(static_cast<std::int64_t>(map.there_ns(here_ns) - other.at(here_ns))));
}

TEST(HostClock, WithoutSamplesTimesStay) {
    const ClockMap map;
    EXPECT_EQ(map.there_ns(12345), 12345u);
    EXPECT_EQ(map.error_ns(), 0);
}

TEST(HostClock, OneSampleGivesTheOffset) {
    for (const std::int64_t offset : {std::int64_t{5'000'000'000'000}, std::int64_t{-90'000'000'000}}) {
        const OtherClock other{offset, 0};
        const ClockMap map({asked(other, 100 * second, 400, 400)});
        EXPECT_EQ(map.there_ns(100 * second), other.at(100 * second));
        EXPECT_EQ(map.there_ns(99 * second), other.at(99 * second));
        EXPECT_EQ(map.there_ns(103 * second), other.at(103 * second));
        EXPECT_EQ(map.error_ns(), 400);
    }
}

TEST(HostClock, TwoSamplesCorrectTheDrift) {
    for (const double drift : {40e-6, -130e-6}) {
        const OtherClock other{-1'000'000'000'000'000, drift};
        const std::uint64_t begin = 2'000'000 * second, end = begin + 3600 * second;
        const ClockMap map({asked(other, begin, 500, 500), asked(other, end, 500, 500)});
        for (const std::uint64_t at : {begin, begin + 17 * second, begin + 1800 * second, end})
            EXPECT_LE(error_at(map, other, at), 2) << at;
    }
}

TEST(HostClock, AnUnevenWayIsWithinTheError) {
    const OtherClock other{77'000'000'000, 20e-6};
    const std::uint64_t end = 60 * second;
    const ClockMap map({asked(other, second, 900, 100), asked(other, end, 200, 3800)});
    EXPECT_GE(map.error_ns(), 2000);
    for (std::uint64_t at = second; at < end; at += second)
        EXPECT_LE(error_at(map, other, at), map.error_ns()) << at;
}

TEST(HostClock, SamplesOfAShortJobGiveNoSpeed) {
    // 1 ms apart with errors of 50 us: a straight line would change durations by a tenth.
    const OtherClock other{123'456'789, 0};
    const std::uint64_t begin = 10 * second, end = begin + 1'000'000;
    const ClockMap map({asked(other, begin, 90'000, 10'000), asked(other, end, 5'000, 55'000)});
    EXPECT_EQ(map.there_ns(end) - map.there_ns(begin), end - begin);
    EXPECT_LE(error_at(map, other, begin), map.error_ns());
    EXPECT_GE(map.error_ns(), 30'000);
}

TEST(HostClock, TimesGrow) {
    std::mt19937_64 random(7);
    std::uniform_int_distribution<std::uint64_t> way(1'000, 400'000), pause(1'000, second / 20);
    for (int round = 0; round < 200; ++round) {
        const OtherClock other{-5 * static_cast<std::int64_t>(second), 60e-6};
        std::vector<ClockSample> samples;
        std::uint64_t now = 1000 * second;
        for (int i = 0; i < 5; ++i, now += pause(random)) {
            const ClockSample sample = asked(other, now, way(random), way(random));
            samples.push_back(sample);
            now = sample.here_ns + sample.error_ns;
        }
        const ClockMap map(samples);
        std::uint64_t last = 0;
        for (std::uint64_t at = 999 * second; at < now + second / 100; at += second / 1000) {
            EXPECT_GT(map.there_ns(at), last);
            last = map.there_ns(at);
            if (at < samples.front().here_ns || at > samples.back().here_ns) continue;
            EXPECT_LE(error_at(map, other, at), map.error_ns() + 1);
        }
    }
}

TEST(HostClock, ASpoiltSampleBetweenOthersIsLeftOut) {
    const OtherClock other{1'000'000, 0};
    const ClockMap map({asked(other, 10 * second, 100, 100), asked(other, 20 * second, 9'000'000, 100),
                        asked(other, 30 * second, 100, 100)});
    EXPECT_EQ(map.there_ns(20 * second), other.at(20 * second));
    EXPECT_EQ(map.error_ns(), 100);  // the sample's own error explains its deviation
}

TEST(HostClock, AClockThatWasSetIsInTheError) {
    OtherClock other{0, 0};
    std::vector<ClockSample> samples = {asked(other, 10 * second, 100, 100)};
    other.offset_ns = 50'000'000;
    samples.push_back(asked(other, 10 * second + second / 10, 200, 200));
    EXPECT_GE(ClockMap(samples).error_ns(), 50'000'000 - 200);
}

TEST(HostClock, TheQuickestAnswerCounts) {
    int asked_times = 0;
    const ClockSample best = compare_clocks(5, [&] { return static_cast<std::uint64_t>(++asked_times); });
    EXPECT_EQ(asked_times, 5);
    EXPECT_GE(best.there_ns, 1u);
    EXPECT_LE(best.there_ns, 5u);
    EXPECT_GT(best.here_ns, 0u);
}

TEST(HostClock, WithoutAnAnswerThereIsNoSample) {
    int left = 3;
    const ClockSample none = compare_clocks(20, [&] { return static_cast<std::uint64_t>(--left); });
    EXPECT_EQ(none.here_ns + none.there_ns + none.error_ns, 0u);
    EXPECT_EQ(left, 0);
}

using Changes = std::vector<std::int64_t>;

TEST(HostClock, CausesInOrderChangeNothing) {
    EXPECT_EQ(ordered_clocks(2, {}, 100), (Changes{0, 0}));
    EXPECT_EQ(ordered_clocks(2, {{0, 1, 5}, {1, 0, 0}}, 100), (Changes{0, 0}));
}

TEST(HostClock, ACauseAfterItsEffectComesEarlier) {
    EXPECT_EQ(ordered_clocks(2, {{0, 1, -30}, {1, 0, 80}}, 100), (Changes{-30, 0}));
    // Clock 1 is early by 10, so clock 2 has to be earlier than that.
    EXPECT_EQ(ordered_clocks(3, {{1, 0, -10}, {2, 1, -20}, {0, 2, 200}}, 100), (Changes{0, -10, -30}));
}

TEST(HostClock, OrdersThatContradictEachOtherChangeNothing) {
    EXPECT_EQ(ordered_clocks(2, {{0, 1, -30}, {1, 0, 20}}, 100), (Changes{0, 0}));
    EXPECT_EQ(ordered_clocks(3, {{0, 1, -1}, {1, 2, -1}, {2, 0, -1}}, 1'000'000), (Changes{0, 0, 0}));
}

TEST(HostClock, AChangeBeyondTheBoundIsNotMade) {
    EXPECT_EQ(ordered_clocks(2, {{0, 1, -101}}, 100), (Changes{0, 0}));
    EXPECT_EQ(ordered_clocks(2, {{0, 1, -100}}, 100), (Changes{-100, 0}));
}

TEST(HostClock, OrdersOfTrueClocksCanBeKept) {
    std::mt19937_64 random(11);
    std::uniform_int_distribution<std::int64_t> error(-1000, 1000), way(1, 3000);
    for (int round = 0; round < 100; ++round) {
        constexpr std::size_t clocks = 6;
        Changes errors(clocks);
        for (std::int64_t& one : errors) one = error(random);
        std::vector<ClockOrder> orders;
        for (std::size_t cause = 0; cause < clocks; ++cause)
            for (std::size_t effect = 0; effect < clocks; ++effect)
                if (cause != effect)
                    orders.push_back({cause, effect, way(random) + errors[effect] - errors[cause]});
        const Changes changes = ordered_clocks(clocks, orders, 2000);
        for (const ClockOrder& order : orders)
            EXPECT_LE(changes[order.cause] - changes[order.effect], order.most_ns);
    }
}

TEST(HostClock, ThisProcessHasOneClock) { EXPECT_EQ(clock_identity(), clock_identity()); }

}  // namespace
}  // namespace atl::common
