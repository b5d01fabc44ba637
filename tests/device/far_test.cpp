// The ring for kernels' requests to PEs that only a transport reaches. A thread of the test plays the host,
// so that the sanitizers check the protocol.
#include "atoll/device/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace atl::testing {
namespace {

using device::FarKind;
using device::FarRequest;
using device::FarRing;

/// Two PEs, of which the other is far: `there` is the address of its slot in this test.
class FarRingTest : public ::testing::Test {
  protected:
    FarRingTest() {
        control_->far_ring = ring_.get();
        control_->far_tickets = &tickets_;
        control_->watch = &watch_;
        watch_.check = [](const device::Watch& watch, const device::Report&, unsigned long long) {
            if (__atomic_load_n(&watch.abort, __ATOMIC_ACQUIRE) != 0)
                throw std::runtime_error("the job is over");
        };
    }
    ~FarRingTest() override { stop(); }

    void serve() {
        server_ = std::thread([this] {
            for (unsigned long long ticket = 0; !stops_;) {
                FarRing::Slot& slot = ring_->slots[ticket % FarRing::n_slots];
                const auto free = static_cast<unsigned>(ticket / FarRing::n_slots) * FarRing::turns;
                if (device::load_acquire(&slot.turn) != free + FarRing::asked) {
                    std::this_thread::yield();
                    continue;
                }
                carry_out(slot);
                device::store_release(&slot.turn,
                                      free + (slot.request.waits ? FarRing::done : FarRing::turns));
                ++ticket;
            }
        });
    }
    void stop() {
        stops_ = true;
        if (server_.joinable()) server_.join();
    }
    /// Addresses are in this PE's slot; the far PE has the same values at the same offsets.
    static void carry_out(FarRing::Slot& slot) {
        const FarRequest& r = slot.request;
        void* here = r.is_in_slot ? slot.data : r.here;
        if (r.kind == FarKind::put) std::memcpy(r.there, here, r.bytes);
        if (r.kind == FarKind::get) std::memcpy(here, r.there, r.bytes);
        if (r.kind == FarKind::atomic)
            slot.result =
                __atomic_fetch_add(static_cast<unsigned long long*>(r.there), r.value, __ATOMIC_RELAXED);
        if (r.signal) __atomic_store_n(static_cast<unsigned long long*>(r.signal), r.value, __ATOMIC_RELEASE);
    }

    std::unique_ptr<device::Control> control_ = std::make_unique<device::Control>();
    std::unique_ptr<FarRing> ring_ = std::make_unique<FarRing>();
    unsigned long long tickets_ = 0;
    device::Watch watch_{};
    const int slots_[2] = {0, device::detail::far_slot(1)};
    device::Team team_{0, 2, nullptr, 0, 0, 0, 1, slots_, control_.get(), nullptr};
    std::atomic<bool> stops_{false};
    std::thread server_;
};

TEST_F(FarRingTest, ManyThreadsGoRoundTheRing) {
    constexpr int threads = 6, each = 100;
    std::vector<int> x(threads * each), y(threads * each);
    unsigned long long count = 0;
    serve();
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (int i = 0; i < each; ++i) {
                const int k = t * each + i;
                device::p(team_, x.data() + k, k + 1, 1);
                device::atomic_fetch_add(team_, &count, 1, 1);
                device::put(team_, y.data() + k, &k, 1, 1);
                ASSERT_EQ(device::g(team_, x.data() + k, 1), k + 1);
            }
            device::quiet(team_);
        });
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(count, threads * each);
    for (int k = 0; k < threads * each; ++k) {
        EXPECT_EQ(x[static_cast<std::size_t>(k)], k + 1);
        EXPECT_EQ(y[static_cast<std::size_t>(k)], k);
    }
    EXPECT_EQ(tickets_, threads * (4u * each + 1));
}

TEST_F(FarRingTest, AllSizesBringTheirSignal) {
    serve();
    for (const std::size_t n : {1u, 63u, 64u, 65u, 1024u, 1025u, 5000u}) {
        std::vector<char> to(n), from(n, 'x'), back(n);
        unsigned long long signal = 0;
        device::put_signal(team_, to.data(), from.data(), n, &signal, 5, 1);
        device::signal_wait_until(team_, &signal, Compare::eq, 5);
        EXPECT_EQ(to, from) << n;
        device::get(team_, back.data(), to.data(), n, 1);
        EXPECT_EQ(back, from) << n;
    }
}

TEST_F(FarRingTest, WaitsEndWithTheJob) {
    int x = 0;
    device::p(team_, &x, 1, 1);  // requested, and not served
    std::thread end([this] { __atomic_store_n(&watch_.abort, 1u, __ATOMIC_RELEASE); });
    EXPECT_THROW(device::quiet(team_), std::runtime_error);
    EXPECT_THROW(device::g(team_, &x, 1), std::runtime_error);
    end.join();
}

/// The server owns the source of a requested put until it has carried that out.
TEST_F(FarRingTest, FlushWaitsForSources) {
    std::vector<char> to(5000), from(5000, 'x');
    device::put_nbi(team_, to.data(), from.data(), from.size(), 1);
    __atomic_store_n(&watch_.abort, 1u, __ATOMIC_RELEASE);  // no server: this ends a wait
    EXPECT_THROW(device::flush(team_), std::runtime_error);
    __atomic_store_n(&watch_.abort, 0u, __ATOMIC_RELEASE);
}

TEST_F(FarRingTest, FlushMakesSourcesFree) {
    serve();
    std::vector<int> to(2000), from(2000);
    for (int round = 1; round <= 20; ++round) {
        std::fill(from.begin(), from.end(), round);
        device::put_nbi(team_, to.data(), from.data(), from.size(), 1);
        device::flush(team_);
        std::fill(from.begin(), from.end(), -1);
        EXPECT_EQ(to, std::vector<int>(2000, round));
    }
    EXPECT_EQ(tickets_, 40u);
}

TEST_F(FarRingTest, CodesKeepTheirParts) {
    using namespace device::detail;
    const FarCode code{device::Operation::fence, FarKind::quiet, AtomicOp::fetch_xor,
                       DType::bfloat16,          SignalOp::add,
                       /*release*/ true,         /*waits*/ true};
    const FarCode same = FarCode::of(code.packed());
    EXPECT_EQ(same.operation, code.operation);
    EXPECT_EQ(same.kind, code.kind);
    EXPECT_EQ(same.op, code.op);
    EXPECT_EQ(same.type, code.type);
    EXPECT_EQ(same.signal_op, code.signal_op);
    EXPECT_TRUE(same.is_release && same.waits);
    EXPECT_EQ(far_pe(far_slot(7)), 7);
    EXPECT_TRUE(is_far(far_slot(0)));
}

}  // namespace
}  // namespace atl::testing
