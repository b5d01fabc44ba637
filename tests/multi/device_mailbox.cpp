// Mailboxes of device heaps: calls of the host, streams, and (if the GPU is simulated) functions of kernels,
// in one mailbox.
#include "atoll/device_mailbox.hpp"
#include "atoll/device/mailbox.hpp"
#include "support/device_far.hpp"
#include "support/gpu_streams.hpp"
#include "support/multi_main.hpp"
#include "support/setups.hpp"

#include <array>
#include <functional>
#include <optional>

namespace atl::testing {
namespace {

std::optional<ErrorCode> code_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.code();
    }
    return std::nullopt;
}

class DeviceMailboxes : public DeviceFar {
  protected:
    void SetUp() override {
        DeviceFar::SetUp();
        if (IsSkipped()) return;
        job_.free(job_.malloc(8, Memory::device));  // opens the GPU
        if (is_far()) GTEST_SKIP() << "mailboxes of GPUs are for PEs that share memory; see the last test";
        stream_ = std::make_unique<GpuStream>(job_);
    }
    int n() const { return job_.n_pes(); }
    int me() const { return job_.my_pe(); }
    void finish() const { StreamContext(context_, *stream_).synchronize(); }
    static std::vector<unsigned char> noise(std::size_t bytes, int seed) {
        std::vector<unsigned char> made(bytes);
        for (std::size_t i = 0; i < bytes; ++i)
            made[i] = static_cast<unsigned char>(31 * i + i / 251 + 7 * static_cast<std::size_t>(seed));
        return made;
    }
    void pass_rings(const DeviceMailbox& box, std::size_t most, int rounds) {
        auto* x = zeros<unsigned char>(most + 8);
        auto* y = zeros<unsigned char>(most + 8);
        auto* count = zeros<std::int64_t>(1);
        for (int round = 0; round < rounds; ++round) {
            const std::size_t bytes = std::array<std::size_t, 7>{8, 0, 1, 13, 1024, 4096, most}[round % 7];
            const std::size_t shift = round % 3 == 0 ? 5 : 0;
            set(x + shift, noise(bytes, round + 10 * me()));
            set(y, std::vector<unsigned char>(most + 8, 0x55));
            box.post(*stream_, x + shift, bytes, right_of(job_));
            box.receive(*stream_, y + shift, round % 2 == 0 ? bytes : most, left_of(job_), count);
            finish();
            ASSERT_EQ(values(count, 1)[0], static_cast<std::int64_t>(bytes)) << "round " << round;
            ASSERT_EQ(values(y + shift, bytes), noise(bytes, round + 10 * left_of(job_))) << round;
            ASSERT_EQ(values(y + shift + bytes, 3), std::vector<unsigned char>(3, 0x55)) << round;
        }
        free({count, y, x});
    }
    std::unique_ptr<GpuStream> stream_;
};

TEST_F(DeviceMailboxes, RingsOfEverySizeOnAStream) {
    constexpr std::size_t most = 65536;
    DeviceMailbox box(job_, job_.world(), most);
    EXPECT_EQ(box.capacity_bytes(), most);
    pass_rings(box, most, 42);
    box.free();
}

/// Message numbers near 2^30 and 2^35, at which flags recur. Words that short messages left unwritten must
/// not match by an old flag, nor a size by an old number.
TEST_F(DeviceMailboxes, LargeNumbers) {
    constexpr std::size_t most = 4096;
    for (const unsigned long long start : {(1ull << 30) - 8, (7ull << 32) + 8}) {
        DeviceMailbox box(job_, job_.world(), most);
        auto* posts = reinterpret_cast<device::detail::Post*>(box.device().block);
        set(posts,
            std::vector<device::detail::Post>(static_cast<std::size_t>(n()), {start, start, start, start}));
        job_.world().barrier();
        pass_rings(box, most, 28);
        box.free();
    }
}

TEST_F(DeviceMailboxes, HostBlockingInOrderWithSizes) {
    DeviceMailbox box(job_, job_.world(), 1000, DeviceMailbox::most_slots);
    auto* x = zeros<int>(250);
    auto* y = zeros<int>(250);
    EXPECT_EQ(box.try_receive(y, 1000, left_of(job_)), none);
    job_.world().barrier();
    for (int round = 0; round < 12; ++round) {
        for (int k = 0; k < DeviceMailbox::most_slots; ++k) {  // no post waits for a reader
            set(x, numbers(250, 100 * round + 10 * k + me()));
            box.post(x, static_cast<std::size_t>(4 * (k + round)), right_of(job_));
        }
        for (int k = 0; k < DeviceMailbox::most_slots; ++k) {
            const auto count = static_cast<std::size_t>(k + round);
            if (count > 1) {
                EXPECT_EQ(code_of([&] { box.receive(y, 4 * count - 1, left_of(job_)); }),
                          ErrorCode::shape_mismatch);
            }
            EXPECT_EQ(box.receive(y, 1000, left_of(job_)), 4 * count);
            EXPECT_EQ(values(y, count), numbers(count, 100 * round + 10 * k + left_of(job_)));
        }
    }
    job_.world().barrier();
    box.post(x, 4, right_of(job_));
    job_.world().barrier();
    EXPECT_EQ(box.try_receive(y, 1000, left_of(job_)), 4u);
    EXPECT_EQ(box.try_receive(y, 1000, left_of(job_)), none);
    free({y, x});
    box.free();
}

TEST_F(DeviceMailboxes, AWaitOfTheHostIsBoundedAndNamesThePe) {
    Team reversed = job_.world().split(0, -me());
    DeviceMailbox box(job_, reversed, 64);
    auto* x = zeros<int>(1);
    auto* y = zeros<int>(16);
    const int from = left_of(job_);  // in either order of the PEs
    const std::string who = "waiting for PE " + std::to_string(n() - 1 - from);
    for (const double timeout_s : {0.0, 0.02})
        expect_error(ErrorCode::timeout, {"mailbox receive of team", who},
                     [&] { box.receive(y, 64, from, timeout_s); });
    expect_error(ErrorCode::shape_mismatch, {"128 bytes", "64 bytes"}, [&] { box.post(y, 128, from); });
    job_.world().barrier();
    const int mine = reversed.my_pe();
    set(x, {mine});
    box.post(x, 4, (mine + 1) % n());
    EXPECT_EQ(box.receive(y, 64, (mine + n() - 1) % n(), 600), 4u);
    EXPECT_EQ(values(y, 1)[0], (mine + n() - 1) % n());
    free({y, x});
    box.free();
    reversed.destroy();
}

TEST_F(DeviceMailboxes, AHostThatFindsNoRoomIsBoundedAndPostsNothing) {
    constexpr int places = device::Mailbox::depth;
    Team reversed = job_.world().split(0, -me());
    DeviceMailbox box(job_, reversed, 1000, 1);
    auto* x = zeros<int>(250);
    auto* y = zeros<int>(250);
    const int mine = reversed.my_pe();
    const int right = (mine + 1) % n();
    const int left = (mine + n() - 1) % n();
    const std::string who = "waiting for PE " + std::to_string(n() - 1 - right);
    for (int round = 0; round < 3; ++round) {
        for (int k = 0; k < places; ++k) {
            set(x, numbers(250, 100 * round + k + mine));
            if (k % 3 == 0)
                box.post(*stream_, x, 1000, right);
            else
                box.post(x, 1000, right, 0);
            finish();
        }
        set(x, numbers(250, -1));
        for (const double timeout_s : {0.0, 0.02})
            expect_error(ErrorCode::timeout, {"mailbox post of team", who},
                         [&] { box.post(x, 1000, right, timeout_s); });
        job_.world().barrier();
        for (int k = 0; k < places; ++k) {
            EXPECT_EQ(box.receive(y, 1000, left), 1000u);
            EXPECT_EQ(values(y, 250), numbers(250, 100 * round + k + left)) << "message " << k;
        }
        EXPECT_EQ(box.try_receive(y, 1000, left), none) << "what found no room was posted";
        job_.world().barrier();
    }
    free({y, x});
    box.free();
    reversed.destroy();
}

TEST_F(DeviceMailboxes, AHostThatFindsNoRoomPostsOnceThereIs) {
    constexpr int messages = 60;  // many times the capacity
    DeviceMailbox box(job_, job_.world(), 64, 1);
    auto* x = zeros<int>(1);
    auto* y = zeros<int>(1);
    const int other = me() ^ 1;
    for (int i = 0; i < messages && other < n(); ++i) {
        if (me() % 2 == 0) {
            set(x, {i});
            box.post(x, sizeof(int), other);
        } else {
            ASSERT_EQ(box.receive(y, sizeof(int), other), sizeof(int));
            ASSERT_EQ(values(y, 1)[0], i);
        }
    }
    job_.world().barrier();
    free({y, x});
    box.free();
}

TEST_F(DeviceMailboxes, TryReceiveOnAStream) {
    const DeviceMailbox box(job_, job_.world(), 64);
    auto* x = zeros<double>(8);
    auto* y = zeros<double>(8);
    auto* count = zeros<std::int64_t>(2);
    box.try_receive(*stream_, y, 64, left_of(job_), count, sizeof(double));
    finish();
    EXPECT_EQ(values(count, 1)[0], -1);
    job_.world().barrier();
    set(x, {1.5 + me(), 2.5});
    box.post(*stream_, x, 2 * sizeof(double), right_of(job_));
    finish();
    job_.world().barrier();
    box.try_receive(*stream_, y, 64, left_of(job_), count, sizeof(double));
    box.try_receive(*stream_, y, 64, left_of(job_), count + 1, sizeof(double));
    finish();
    EXPECT_EQ(values(count, 2), (std::vector<std::int64_t>{2, -1}));
    EXPECT_EQ(values(y, 2), (std::vector<double>{1.5 + left_of(job_), 2.5}));
    free({count, y, x});
}

TEST_F(DeviceMailboxes, TeamsOfSeveralSizes) {
    const int half = (n() + 1) / 2;
    Team team = job_.world().split_strided(0, 1, half);
    DeviceMailbox box(job_, team, 32);
    auto* x = zeros<int>(2);
    if (team) {
        set(x, {team.my_pe()});
        box.post(x, 4, (team.my_pe() + 1) % half);
        EXPECT_EQ(box.receive(x + 1, 4, (team.my_pe() + half - 1) % half), 4u);
        EXPECT_EQ(values(x + 1, 1)[0], (team.my_pe() + half - 1) % half);
    } else {
        EXPECT_EQ(code_of([&] { box.post(x, 4, 0); }), ErrorCode::invalid_argument);
    }
    free({x});
    box.free();
    if (team) team.destroy();
}

TEST_F(DeviceMailboxes, WithFunctionsOfKernels) {
    if (has_real_gpu()) GTEST_SKIP() << "kernels on a real GPU are tests/gpu's";
    DeviceMailbox box(job_, job_.world(), 256);
    const device::Team team = job_.world().device(Memory::device, false);
    const device::Mailbox in_kernels = box.device();
    auto* x = zeros<int>(64);
    auto* y = zeros<int>(64);
    auto* count = zeros<std::int64_t>(1);
    const auto right = right_of(job_), left = left_of(job_);
    const auto size = [](int round) { return static_cast<std::size_t>(1 + 7 * (round % 9)); };
    for (int round = 0; round < 60; ++round) {
        set(x, numbers(64, 10 * round + me()));
        // Each way of posting is combined with each way of receiving.
        if (round % 2 == 0)
            device::post(team, in_kernels, x, size(round), right);
        else
            box.post(*stream_, x, 4 * size(round), right);
        if (round % 3 == 0)
            device::receive(team, in_kernels, y, size(round), left);
        else if (round % 3 == 1)
            box.receive(*stream_, y, 4 * size(round), left, count, 4);
        else
            EXPECT_EQ(box.receive(y, 4 * size(round), left), 4 * size(round));
        finish();
        ASSERT_EQ(values(y, size(round)), numbers(size(round), 10 * round + left)) << round;
        if (round % 3 == 1) {
            EXPECT_EQ(values(count, 1)[0], static_cast<std::int64_t>(size(round)));
        }
    }
    free({count, y, x});
    box.free();
}

/// The size is unknown to the receiver: it gets the complete elements for which message and array have room.
TEST_F(DeviceMailboxes, WholeElementsOfAMessageWithFunctionsOfKernels) {
    if (has_real_gpu()) GTEST_SKIP() << "kernels on a real GPU are tests/gpu's";
    DeviceMailbox box(job_, job_.world(), 20);
    auto* x = zeros<double>(2);
    auto* y = zeros<double>(8);
    auto* count = zeros<std::int64_t>(1);
    set(x, {1.5 + me(), 2.5});
    device::post(job_.world().device(Memory::device, false), box.device(), x, 2, right_of(job_));
    box.receive(*stream_, y, 64, left_of(job_), count, sizeof(double));
    finish();
    EXPECT_EQ(values(count, 1)[0], 2);
    EXPECT_EQ(values(y, 3), (std::vector<double>{1.5 + left_of(job_), 2.5, 0}));
    free({count, y, x});
    box.free();
}

TEST_F(DeviceMailboxes, APingPongIsReplayed) {
    constexpr int rounds = 40;  // more than there are slots
    const DeviceMailbox box(job_, job_.world(), 4096);
    auto* x = zeros<std::uint64_t>(512);
    const StreamContext stream(context_, *stream_);
    const int me = this->me();
    const int other = me ^ 1;
    const auto turn = [&] {
        if (other >= n()) return;
        if (me % 2 == 0) {
            stream.atomic_inc(x, me);
            box.post(*stream_, x, 4096, other);
            box.receive(*stream_, x, 4096, other);
        } else {
            box.receive(*stream_, x, 4096, other);
            stream.atomic_inc(x, me);
            box.post(*stream_, x, 4096, other);
        }
    };
    const auto replay = has_real_gpu() && other < n() ? stream_->graph(turn) : std::function<void()>(turn);
    for (int i = 0; i < rounds; ++i) replay();
    finish();
    EXPECT_EQ(values(x, 1)[0], other >= n() ? 0u : static_cast<std::uint64_t>(2 * rounds));
    free({x});
}

TEST_F(DeviceMailboxes, WrongCallsAreRefusedByName) {
    DeviceMailbox box(job_, job_.world(), 16);
    auto* x = zeros<int>(8);
    auto* host = static_cast<int*>(job_.malloc(64));
    const Stream stream = *stream_;
    EXPECT_EQ(code_of([&] { box.post(x, 17, 0); }), ErrorCode::shape_mismatch);
    EXPECT_EQ(code_of([&] { box.post(stream, x, 17, 0); }), ErrorCode::shape_mismatch);
    EXPECT_EQ(code_of([&] { box.post(x, 4, n()); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { box.receive(stream, x, 4, -1); }), ErrorCode::pe);
    EXPECT_EQ(code_of([&] { box.try_receive(stream, x, 4, 0, nullptr); }), ErrorCode::invalid_argument);
    expect_error(ErrorCode::shape_mismatch, {"20 bytes", "element size, 8 bytes"},
                 [&] { box.receive(stream, x, 20, 0, nullptr, 8); });
    EXPECT_EQ(code_of([&] { box.receive(stream, x, 16, 0, nullptr, 0); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { box.post(host, 4, 0); }), ErrorCode::invalid_argument) << "not pinned";
    EXPECT_EQ(code_of([&] { DeviceMailbox(job_, job_.world(), 16, 5); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { DeviceMailbox(job_, job_.world(), std::size_t{1} << 34); }),
              ErrorCode::invalid_argument);
    DeviceMailbox moved = std::move(box);
    EXPECT_EQ(code_of([&] { box.post(x, 4, 0); }), ErrorCode::use_after_free);
    moved.free();
    EXPECT_EQ(code_of([&] { moved.post(x, 4, 0); }), ErrorCode::use_after_free);
    EXPECT_EQ(code_of([&] { moved.device(); }), ErrorCode::use_after_free);
    job_.free(host);
    free({x});
}

class FarDeviceMailbox : public DeviceFar {};

TEST_F(FarDeviceMailbox, IsRefusedWhereATransportReachesAMember) {
    job_.free(job_.malloc(8, Memory::device));
    if (!is_far()) GTEST_SKIP() << "all PEs share memory";
    EXPECT_EQ(code_of([&] { DeviceMailbox(job_, job_.world(), 16); }), ErrorCode::unsupported);
    job_.world().barrier();
}

}  // namespace
}  // namespace atl::testing
