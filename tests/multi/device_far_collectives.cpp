// Stream-ordered collectives and messages of teams that the window does not span; on one host the same by
// kernels.
#include "support/device_far.hpp"
#include "support/gpu_streams.hpp"
#include "support/multi_main.hpp"
#include "support/setups.hpp"

#include <complex>
#include <thread>

namespace atl::testing {
namespace {

class DeviceFarCollectives : public DeviceFar {
  protected:
    void SetUp() override {
        DeviceFar::SetUp();
        if (IsSkipped()) return;
        job_.free(job_.malloc(8, Memory::device));  // opens the GPU
        stream_ = std::make_unique<GpuStream>(job_);
        on_stream_ = std::make_unique<StreamTeam>(job_.world(), *stream_);
    }
    void finish(Stream stream) const { StreamContext(context_, stream).synchronize(); }
    void finish() const { finish(*stream_); }
    int n() const { return job_.n_pes(); }
    int me() const { return job_.my_pe(); }
    /// Element of block i that PE `pe` passes.
    template <class T> static T element(int pe, int block = 0) { return static_cast<T>(pe + 2 * block + 1); }
    template <class T> std::vector<T> blocks(std::size_t count, const std::function<T(int)>& of) const {
        std::vector<T> all;
        for (int i = 0; i < n(); ++i) all.insert(all.end(), count, of(i));
        return all;
    }
    /// The result of a reduction of all PEs' elements, in PE order.
    template <class T> T folded(const std::function<T(T, T)>& step, int block = 0) const {
        T all = element<T>(0, block);
        for (int pe = 1; pe < n(); ++pe) all = step(all, element<T>(pe, block));
        return all;
    }
    template <class T> void expect_reductions();
    std::unique_ptr<GpuStream> stream_;
    std::unique_ptr<StreamTeam> on_stream_;
};

TEST_F(DeviceFarCollectives, MoveBlocks) {
    for (const std::size_t count : {1u, 1000u, 300000u}) {
        const std::size_t all = count * static_cast<std::size_t>(n());
        auto* x = zeros<int>(all);
        auto* y = zeros<int>(all);
        set(x, blocks<int>(count, [&](int i) { return element<int>(me(), i); }));
        job_.world().barrier();
        const std::span one(y, count), many(y, all);
        const std::span<const int> in(x, count), ins(x, all);
        on_stream_->fcollect(many, in);
        finish();
        EXPECT_EQ(values(y, all), blocks<int>(count, [&](int i) { return element<int>(i); }));
        on_stream_->alltoall(many, ins);
        finish();
        EXPECT_EQ(values(y, all), blocks<int>(count, [&](int i) { return element<int>(i, me()); }));
        for (int root = 0; root < n(); ++root) {
            const bool is_root = me() == root;
            on_stream_->broadcast(one, is_root ? in : std::span<const int>(), root);
            finish();
            EXPECT_EQ(values(y, count), std::vector<int>(count, element<int>(root)));
            on_stream_->scatter(one, is_root ? ins : std::span<const int>(), root);
            finish();
            EXPECT_EQ(values(y, count), std::vector<int>(count, element<int>(root, me())));
            on_stream_->gather(is_root ? many : std::span<int>(), in, root);
            finish();
            if (is_root) {
                EXPECT_EQ(values(y, all), blocks<int>(count, [&](int i) { return element<int>(i); }));
            }
        }
        on_stream_->broadcast(std::span(x, count), in, 0);  // in place
        finish();
        EXPECT_EQ(values(x, count), std::vector<int>(count, element<int>(0)));
        free({y, x});
    }
    on_stream_->fcollect(std::span<int>(), std::span<const int>());
    finish();
}

template <class T> void DeviceFarCollectives::expect_reductions() {
    for (const std::size_t count : {1u, 5000u}) {
        const std::size_t all = count * static_cast<std::size_t>(n());
        auto* x = zeros<T>(all);
        auto* y = zeros<T>(all);
        set(x, blocks<T>(count, [&](int i) { return element<T>(me(), i); }));
        job_.world().barrier();
        const std::span one(y, count);
        const std::span<const T> in(x, count), ins(x, all);
        const auto expect = [&](T value) {
            finish();
            EXPECT_EQ(values(y, count), std::vector<T>(count, value));
        };
        const auto sum = [](T a, T b) { return static_cast<T>(a + b); };
        on_stream_->sum_reduce(one, in);
        expect(folded<T>(sum));
        on_stream_->prod_reduce(one, in);
        expect(folded<T>([](T a, T b) { return static_cast<T>(a * b); }));
        on_stream_->reduce_scatter(one, ins, ReduceOp::sum);
        expect(folded<T>(sum, me()));
        if constexpr (!std::is_same_v<T, std::complex<float>>) {
            on_stream_->min_reduce(one, in);
            expect(element<T>(0));
            on_stream_->max_reduce(one, in);
            expect(element<T>(n() - 1));
        }
        if constexpr (std::floating_point<T>) {
            const T n_pes = static_cast<T>(n());
            on_stream_->avg_reduce(one, in);
            expect(folded<T>(sum) / n_pes);
            on_stream_->premul_sum_reduce(one, in, 0.5);
            expect(folded<T>(sum) / 2);
            on_stream_->premul_sum_reduce_scatter(one, ins, 2.0);
            expect(folded<T>(sum, me()) * 2);
        }
        on_stream_->sum_reduce(std::span(x, count), in);  // in place
        finish();
        EXPECT_EQ(values(x, count), std::vector<T>(count, folded<T>(sum)));
        free({y, x});
    }
}

TEST_F(DeviceFarCollectives, ReduceFloats) { expect_reductions<float>(); }
TEST_F(DeviceFarCollectives, ReduceDoubles) { expect_reductions<double>(); }
TEST_F(DeviceFarCollectives, ReduceLongs) { expect_reductions<std::int64_t>(); }
TEST_F(DeviceFarCollectives, ReduceBytes) { expect_reductions<std::uint8_t>(); }
TEST_F(DeviceFarCollectives, ReduceComplexNumbers) { expect_reductions<std::complex<float>>(); }

TEST_F(DeviceFarCollectives, ReduceBits) {
    auto* x = zeros<std::uint32_t>(1000);
    auto* y = zeros<std::uint32_t>(1000);
    set(x, std::vector<std::uint32_t>(1000, 0xf000u | 1u << me()));
    job_.world().barrier();
    const std::span out(y, 1000);
    const std::span<const std::uint32_t> in(x, 1000);
    const std::uint32_t ones = (1u << n()) - 1;
    on_stream_->reduce(out, in, ReduceOp::bit_or);
    finish();
    EXPECT_EQ(values(y, 1000), std::vector<std::uint32_t>(1000, 0xf000u | ones));
    on_stream_->reduce(out, in, ReduceOp::bit_and);
    finish();
    EXPECT_EQ(values(y, 1000), std::vector<std::uint32_t>(1000, n() == 1 ? 0xf001u : 0xf000u));
    on_stream_->reduce(out, in, ReduceOp::bit_xor);
    finish();
    EXPECT_EQ(values(y, 1000), std::vector<std::uint32_t>(1000, (n() % 2 == 0 ? 0 : 0xf000u) | ones));
    free({y, x});
}

/// 1.5, 2.5, ... in halves: sums over some PEs need more digits than one element has.
TEST_F(DeviceFarCollectives, ReduceHalvesInFloat) {
    if (!is_far()) GTEST_SKIP() << "the simulated GPU has no float16; tests/gpu has";
    const auto expect = [&]<class T>(T, int digits, std::uint16_t one, std::uint16_t large) {
        auto* x = zeros<T>(8);
        auto* y = zeros<T>(8);
        // 2^(digits) + 1 + 1 ... : added in T itself, each 1 would be lost.
        const T mine{me() == 0 ? large : one};
        set(x, std::vector<T>(8, mine));
        job_.world().barrier();
        on_stream_->sum_reduce(std::span(y, 8), std::span<const T>(x, 8));
        finish();
        // Ties go to even: the last digit has the value 2.
        const int halves = n() - 1;
        const int places = halves / 2 + (halves % 2 == 1 && halves / 2 % 2 == 1 ? 1 : 0);
        EXPECT_EQ(values(y, 8)[7].bits, large + places) << digits;
        on_stream_->avg_reduce(std::span(y, 8), std::span<const T>(x, 8));
        finish();
        if (n() == 4) {
            EXPECT_EQ(values(y, 8)[0].bits, large - (2 << (digits - 1)) + 2) << digits;
        }
        free({y, x});
    };
    expect(float16{}, 11, std::uint16_t{0x3c00}, std::uint16_t{0x6800});
    expect(bfloat16{}, 8, std::uint16_t{0x3f80}, std::uint16_t{0x4380});
}

class DeviceFarMessages : public DeviceFarCollectives {
  protected:
    void SetUp() override {
        DeviceFarCollectives::SetUp();
        if (!IsSkipped() && !is_far() && !has_real_gpu())
            GTEST_SKIP() << "the simulated GPU has no messages by the window; tests/gpu has";
    }
};

TEST_F(DeviceFarMessages, GroupsGoRoundARing) {
    StreamMessageGroup group(job_.world(), *stream_);
    for (const std::size_t count : {0u, 1u, 1000u, 500000u}) {
        auto* x = zeros<int>(2 * count + 1);
        auto* y = zeros<int>(2 * count + 1);
        set(x, numbers(2 * count, me()));
        job_.world().barrier();
        for (std::size_t half : {std::size_t{0}, count}) {  // two of a pair, in order
            group.send_bytes(x + half, count * sizeof(int), right_of(job_));
            group.recv_bytes(y + half, count * sizeof(int), left_of(job_));
        }
        group.run();
        finish();
        EXPECT_EQ(values(y, 2 * count), numbers(2 * count, left_of(job_)));
        EXPECT_EQ(values(y + 2 * count, 1)[0], 0) << "behind the last";
        free({y, x});
    }
    group.run();
}

TEST_F(DeviceFarMessages, OneByOneBesideTheHostsOwn) {
    auto* x = zeros<int>(3000);
    auto* y = zeros<int>(3000);
    set(x, numbers(3000, me()));
    job_.world().barrier();
    const int other = me() ^ 1;
    for (int round = 0; round < 5; ++round) {
        if (other < n()) {
            int mine = 100 * round + me(), theirs = -1;
            MessageGroup host(job_.world());  // matched separately from those of streams
            host.send_bytes(&mine, sizeof mine, other);
            host.recv_bytes(&theirs, sizeof theirs, other);
            std::thread on_host([&] { host.run(); });
            for (const bool sends : {me() < other, me() > other})
                if (sends)
                    on_stream_->send(std::span<const int>(x, 3000), other);
                else
                    on_stream_->recv(std::span(y, 3000), other);
            finish();
            on_host.join();
            EXPECT_EQ(theirs, 100 * round + other);
            EXPECT_EQ(values(y, 3000), numbers(3000, other));
        }
    }
    free({y, x});
}

/// Every other PE uses the opposite order: neither collective waits behind the other. Meanwhile the host
/// makes its own calls.
TEST_F(DeviceFarCollectives, TwoTeamsInOppositeOrder) {
    if (!is_far()) GTEST_SKIP() << "of teams that the window does not span";
    for (int again = 0; again < 2; ++again) {  // the second teams reuse the memory of the first
        Team teams[2] = {job_.world().split(0), job_.world().split(0, -me())};
        const GpuStream streams[2] = {GpuStream(job_), GpuStream(job_)};
        int* x[2] = {zeros<int>(1000), zeros<int>(1000)};
        int* y[2] = {zeros<int>(1000), zeros<int>(1000)};
        job_.world().barrier();
        const StreamTeam on[2] = {{teams[0], streams[0]}, {teams[1], streams[1]}};
        for (int round = 0; round < 20; ++round) {
            for (int* array : x) set(array, std::vector<int>(1000, me() + round));
            const auto run = [&](int which) {
                on[which].sum_reduce(std::span(y[which], 1000), std::span<const int>(x[which], 1000));
                finish(streams[which]);
            };
            const int first = (me() + round) % 2;
            std::thread beside([&] { run(first); });
            std::thread last([&] { run(1 - first); });
            int mine = me(), sum = 0;
            teams[0].sum_reduce(std::span(&sum, 1), std::span<const int>(&mine, 1));
            beside.join();
            last.join();
            EXPECT_EQ(sum, n() * (n() - 1) / 2);
            for (int* array : y)
                EXPECT_EQ(values(array, 1000), std::vector<int>(1000, n() * (n() - 1) / 2 + n() * round));
        }
        free({y[0], y[1], x[0], x[1]});
        teams[0].destroy();
        teams[1].destroy();
    }
}

/// Some members wait for an operation before they join a collective. The operation overtakes that collective.
TEST_F(DeviceFarCollectives, NothingWaitsBehindAMeeting) {
    if (!is_far()) GTEST_SKIP() << "of teams that the window does not span";
    auto* signal = zeros<std::uint64_t>(1);
    const GpuStream beside(job_);
    const StreamContext other(context_, beside);
    job_.world().barrier();
    for (std::uint64_t round = 1; round <= 10; ++round) {
        if (me() == 0) {
            std::thread waits([&] {
                on_stream_->barrier();
                finish();
            });
            // More requests than the ring has slots.
            for (int i = 0; i < 100; ++i) other.atomic_add(signal, std::uint64_t{0}, n() - 1);
            for (int pe = 1; pe < n(); ++pe) other.signal_set(signal, round, pe);
            waits.join();
        } else {
            context_.wait_until(signal, Compare::ge, round);
            on_stream_->barrier();
            finish();
        }
    }
    other.synchronize();
    free({signal});
}

TEST_F(DeviceFarCollectives, GraphsReplayThem) {
    if (!has_real_gpu())
        GTEST_SKIP() << "the simulated GPU has no graphs; with ATOLL_TEST_GPU a real one has";
    auto* x = zeros<int>(1000);
    auto* y = zeros<int>(1000);
    auto* z = zeros<int>(1000);
    set(x, std::vector<int>(1000, me() + 1));
    job_.world().barrier();
    StreamMessageGroup group(job_.world(), *stream_);
    const auto replay = stream_->graph([&] {
        on_stream_->sum_reduce(std::span(y, 1000), std::span<const int>(x, 1000));
        group.send_bytes(y, 4000, right_of(job_));
        group.recv_bytes(z, 4000, left_of(job_));
        group.run();
        on_stream_->max_reduce(std::span(x, 1000), std::span<const int>(z, 1000));
    });
    int expected = n() * (n() + 1) / 2;
    for (int round = 0; round < 5; ++round) {
        replay();
        replay();
        finish();
        expected *= round == 0 ? n() : n() * n();
        EXPECT_EQ(values(x, 1000), std::vector<int>(1000, expected)) << round;
        if (expected > 1 << 24) break;
    }
    free({z, y, x});
}

TEST_F(DeviceFarCollectives, WrongArgumentsAreNamed) {
    auto* x = zeros<int>(16);
    auto* host = static_cast<int*>(job_.malloc(40));
    job_.world().barrier();
    const std::span out(x, 5);
    const std::span<const int> in(x + 5, 5);
    expect_error(ErrorCode::pe, {}, [&] { on_stream_->broadcast(out, in, n()); });
    expect_error(ErrorCode::shape_mismatch, {"reduce"}, [&] { on_stream_->sum_reduce(out, in.first(4)); });
    expect_error(ErrorCode::not_symmetric, {"device heap"},
                 [&] { on_stream_->sum_reduce(std::span(host, 5), in); });
    expect_error(ErrorCode::not_symmetric, {"reach past the end"},
                 [&] { on_stream_->sum_reduce(out, std::span<const int>(x + 14, 5)); });
    expect_error(ErrorCode::invalid_argument, {"overlap"},
                 [&] { on_stream_->sum_reduce(out, std::span<const int>(x + 2, 5)); });
    expect_error(ErrorCode::dtype_mismatch, {"float"},
                 [&] { on_stream_->reduce_erased(x, 5, x + 5, 5, DType::int32, ReduceOp::avg); });
    if (is_far()) {
        expect_error(ErrorCode::pe, {}, [&] { on_stream_->send(in, n()); });
        expect_error(ErrorCode::not_symmetric, {"device heap"},
                     [&] { on_stream_->send_bytes(host, 4, right_of(job_)); });
    }
    on_stream_->barrier();  // the failed calls have enqueued nothing
    finish();
    Team gone = job_.world().split(0);
    const StreamTeam on_gone(gone, *stream_);
    gone.destroy();
    expect_error(ErrorCode::use_after_free, {"destroyed"}, [&] { on_gone.barrier(); });
    free({host, x});
}

}  // namespace
}  // namespace atl::testing
