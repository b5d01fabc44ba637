#include "common/recorder/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace atl::common {
namespace {

constexpr std::uint16_t put = operation_number("put"), barrier = operation_number("barrier");

class Statistics : public ::testing::Test {
  public:
    OperationStatistics of(std::uint16_t operation) const {
        for (const OperationStatistics& one : read_statistics(0, *counters).operations)
            if (one.operation == operation) return one;
        return {};
    }
    std::unique_ptr<PeCounters> counters = std::make_unique<PeCounters>();
    Meter meter{*counters};
};

TEST_F(Statistics, AddUpCallsBytesAndTimes) {
    meter.add({.operation = put, .bytes = 100, .ticks = 10'000, .waiting = 4'000});
    meter.add({.operation = put, .bytes = 50, .ticks = 30'000, .waiting = 0});
    const OperationStatistics one = of(put);
    EXPECT_EQ(one.calls, 2U);
    EXPECT_EQ(one.bytes, 150U);
    EXPECT_GT(one.total_s, 0);
    EXPECT_NEAR(one.longest_s / one.total_s, 0.75, 0.01);
    EXPECT_NEAR(one.waiting_s / one.total_s, 0.1, 0.01);
    EXPECT_EQ(of(barrier).calls, 0U);
}

TEST_F(Statistics, CountCallsOfSeveralThreads) {
    constexpr int threads = 4, calls = 1000;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&] {
            for (int i = 0; i < calls; ++i) meter.add({.operation = put, .bytes = 1, .ticks = 1});
        });
    for (int i = 0; i < calls; ++i) meter.add({.operation = put, .bytes = 1, .ticks = 1});
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(of(put).calls, (threads + 1) * calls);
    EXPECT_EQ(of(put).bytes, (threads + 1) * calls);
}

/// Each timed call counts for the untimed ones, so that the total is that of all calls.
TEST_F(Statistics, EstimateTheTimeOfShortCalls) {
    constexpr std::uint64_t calls = Meter::timed_at_first + 10 * Meter::sample;
    std::uint64_t timed = 0;
    for (std::uint64_t i = 0; i < calls; ++i) {
        const std::uint64_t weight = meter.weight_of_next(put);
        if (weight != 0) ++timed;
        meter.add({.operation = put, .bytes = 8, .ticks = 1000, .weight = weight});
    }
    EXPECT_EQ(timed, Meter::timed_at_first + 10);
    EXPECT_EQ(counters->own[put].calls, calls);
    EXPECT_EQ(counters->own[put].ticks, calls * 1000);
}

TEST_F(Statistics, OnlyTheOutermostCallOfAThreadCounts) {
    ThreadMeasurement* const measurement = Meter::enter();
    ASSERT_NE(measurement, nullptr);
    EXPECT_EQ(Meter::enter(), nullptr);
    std::thread([&] {
        ThreadMeasurement* const other = Meter::enter();
        ASSERT_NE(other, nullptr);
        EXPECT_NE(other, measurement);
        Meter::leave(*other);
    }).join();
    Meter::leave(*measurement);
    EXPECT_EQ(Meter::enter(), measurement);
    Meter::leave(*measurement);
}

TEST_F(Statistics, AWaitWithinAWaitIsNotCountedTwice) {
    ThreadMeasurement* const measurement = Meter::enter();
    ASSERT_NE(measurement, nullptr);
    EXPECT_TRUE(meter.begin_wait());
    EXPECT_FALSE(meter.begin_wait());
    const std::uint64_t before = measurement->waited;
    meter.end_wait();
    EXPECT_GT(measurement->waited, before);
    Meter::leave(*measurement);
    const Meter::Wait nothing(nullptr);
    EXPECT_TRUE(meter.begin_wait());
    meter.end_wait();
}

std::vector<PeStatistics> two_pes() {
    return {{0, {{put, 3, 2048, 0.002, 0.001, 0}, {barrier, 1, 0, 0.5, 0.5, 0.4}}},
            {1, {{put, 1, 0, 0.004, 0.004, 0}, {barrier, 1, 0, 0.1, 0.1, 0.05}}}};
}

TEST(StatisticsTable, HasALineForEachOperationWithTheMostTimeFirst) {
    EXPECT_EQ(
        statistics_table(two_pes()),
        "  operation  calls  bytes    total     mean      max  waiting  by PE\n"
        "  barrier        2          600 ms   300 ms   500 ms     75 %  100 ms (PE 1) to 500 ms (PE 0)\n"
        "  put            4  2 KiB  6.00 ms  1.50 ms  4.00 ms      0 %  2.00 ms (PE 0) to 4.00 ms (PE "
        "1)\n");
    EXPECT_EQ(statistics_table({{0, {}}, {1, {}}}), "");
}

TEST(StatisticsOpenMetrics, HasTypesUnitsLabelsAndAnEnd) {
    const std::string text = statistics_openmetrics(two_pes());
    for (const char* line : {
             "# TYPE atoll_operation_calls counter\n",
             "# UNIT atoll_operation_waiting_seconds seconds\n",
             "atoll_operation_calls_total{pe=\"0\",operation=\"put\"} 3\n",
             "atoll_operation_moved_bytes_total{pe=\"0\",operation=\"put\"} 2048\n",
             "atoll_operation_longest_seconds{pe=\"1\",operation=\"barrier\"} 0.1",
         })
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    EXPECT_TRUE(text.ends_with("\n# EOF\n"));
}

}  // namespace
}  // namespace atl::common
