// The log of kernels' events, written by several threads of the host at once.
#define ATOLL_DEVICE_TRACE 1
#include "atoll/device/device.hpp"
#include "common/recorder/kernel_log.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace atl::testing {
namespace {

class DeviceTrace : public ::testing::Test {
  protected:
    static constexpr std::uint64_t most = 64;

    DeviceTrace() {
        log_.open_for_cpu();
        int* const pes = device::detail::array_at<int>(control(), device::ControlLayout{2}.pes_of());
        pes[0] = 5;  // numbers in the world
        pes[1] = 7;
    }
    device::Control* control() { return reinterpret_cast<device::Control*>(block_.data()); }
    common::KernelLogCopy read() const { return log_.read(common::Processor::cpu); }

    struct alignas(128) Line {
        char bytes[128];
    };
    std::vector<Line> memory_ = std::vector<Line>(common::KernelLog::bytes(most) / sizeof(Line));
    common::KernelLog log_{memory_.data(), most};
    std::vector<Line> block_ = std::vector<Line>(device::ControlLayout{2}.bytes() / sizeof(Line) + 1);
    char slot_[64] = {};
    device::Team team_{0, 2, slot_, sizeof slot_, 0, 0, 1, nullptr, control(), &log_.header().sink};
};

TEST_F(DeviceTrace, AnEventHasItsOperationPeerAndPlace) {
    {
        const device::detail::Traced event(team_, device::Thread{}, device::Operation::put, 1, slot_ + 8, 24,
                                           3);
    }
    { const device::detail::Traced event(team_, device::Thread{}, device::Operation::sync, -1, control()); }
    const common::KernelLogCopy copy = read();
    ASSERT_EQ(copy.events.size(), 2u);
    const common::KernelEvent& put = copy.events[0];
    EXPECT_EQ(put.operation, static_cast<int>(device::Operation::put));
    EXPECT_EQ(put.peer, 7);
    EXPECT_EQ(put.offset, 8u);
    EXPECT_EQ(put.bytes, 24u);
    EXPECT_EQ(put.value, 3u);
    EXPECT_LE(put.began, put.ended);
    EXPECT_EQ(copy.events[1].offset, device::no_offset) << "outside the slot";
    EXPECT_EQ(copy.events[1].peer, -1);
}

TEST_F(DeviceTrace, ARangeHasTheFirstBytesOfItsName) {
    { const device::TraceRange<> range(team_, "halo"); }
    { const device::TraceRange<> range(team_, "exactly twenty-four long"); }
    { const device::TraceRange<> range(team_, "exactly twenty-four longer"); }
    std::vector<std::string> names;
    for (const common::KernelEvent& event : read().events) names.push_back(event.name);
    EXPECT_EQ(names,
              (std::vector<std::string>{"halo", "exactly twenty-four long", "exactly twenty-four long"}));
}

TEST_F(DeviceTrace, ThreadsShareTheLogAndWhatIsDroppedIsCounted) {
    constexpr int threads = 4, each = 20;
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&] {
            for (int i = 0; i < each; ++i)
                const device::detail::Traced event(team_, device::Thread{}, device::Operation::quiet);
        });
    for (std::thread& thread : all) thread.join();
    const common::KernelLogCopy copy = read();
    EXPECT_EQ(copy.events.size(), most);
    EXPECT_EQ(copy.dropped, threads * each - most);
    std::set<std::uint32_t> writers;
    for (const common::KernelEvent& event : copy.events) writers.insert(event.thread);
    EXPECT_EQ(writers.size(), 4u) << "three threads have 60 events";
}

TEST_F(DeviceTrace, WithoutALogNothingIsWritten) {
    team_.trace = nullptr;
    { const device::TraceRange<> range(team_, "halo"); }
    EXPECT_EQ(device::trace_begin(team_), 0u);
    device::trace_end(team_, 0, "halo");
    EXPECT_TRUE(read().events.empty());
}

TEST_F(DeviceTrace, TimesOfAGpuBecomeTheHosts) {
    { const device::TraceRange<> range(team_, "halo"); }
    device::TraceRecord& record = log_.records()[0];
    record.began = 1'500;
    record.ended = 2'500;
    device::TraceLog& header = log_.header();
    header.gpu = 1;
    header.first = {1'000, 10'000, 40};
    header.last = {3'000, 14'000, 60};  // the host's clock is twice as fast
    const common::KernelLogCopy copy = log_.read(common::Processor::gpu);
    ASSERT_EQ(copy.events.size(), 1u);
    EXPECT_EQ(copy.events[0].began, 11'000u);
    EXPECT_EQ(copy.events[0].ended, 13'000u);
    EXPECT_EQ(copy.clock_error_ns, 60u);
    EXPECT_EQ(copy.gpu, 0);
}

}  // namespace
}  // namespace atl::testing
