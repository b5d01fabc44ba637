// Bounds of the waits of a start, and the reports of those that take too long.
#include "front/new_job.hpp"
#include "support/fake_heap.hpp"
#include "support/setups.hpp"

#include <sched.h>

#include <atomic>
#include <thread>

namespace atl::testing {
namespace {

/// Expires before any wait is slow enough to be shown on the board.
constexpr double no_time = 1e-9;

common::Settings settings_with(double wait_timeout_s, double init_timeout_s, bool init_timeout_given = true) {
    common::Settings settings;
    settings.heap_bytes = std::size_t{1} << 20;
    settings.wait_timeout_s = wait_timeout_s;
    settings.init_timeout_s = init_timeout_s;
    settings.init_timeout_given = init_timeout_given;
    return settings;
}

std::shared_ptr<bootstrap::ThreadHub> hub_for(int n) {
    const auto layout = memory::layout_for(settings_with(0, 0).heap_bytes);
    return bootstrap::create_hub(n, layout.stride() * static_cast<std::size_t>(n));
}

/// Returns once PE 0 has checked its time in more waits than `before`, or has ended.
void outlast(const common::BoardView& board, std::uint64_t before) {
    const common::BoardHeader& header = board.header();
    while (board.entry(0).waits.load() <= before && header.abort.load() == 0 && header.exited.load() == 0)
        ::sched_yield();
}

TEST(Start, WaitsForALatePeWhateverOtherWaitsMayTake) {
    struct Bound {
        double s;
        bool given;
    };
    for (const Bound bound : {Bound{600, true}, Bound{0, true}, Bound{no_time, false}}) {  // 0: no limit
        const auto hub = hub_for(2);
        std::unique_ptr<core::JobState> jobs[2];
        const auto start = [&](int pe) {
            auto bootstrap = bootstrap::create_thread(hub, pe);
            if (pe == 1) outlast(bootstrap->host_segment().board, 0);
            EXPECT_NO_THROW(jobs[pe] = front::new_job(std::move(bootstrap),
                                                      settings_with(no_time, bound.s, bound.given)));
        };
        std::thread late(start, 1);
        start(0);
        late.join();
    }
}

TEST(Start, NamesMissingPesAndTheSettingToRaise) {
    for (const int n : {2, 3, 5}) {
        const auto hub = hub_for(n);
        const std::string missing = n == 2   ? "not yet started: PE 1"
                                    : n == 3 ? "not yet started: PEs 1,2"
                                             : "not yet started: PEs 1-4";
        expect_error(ErrorCode::timeout,
                     {"Timed out after 0.02 s in init", missing + ".", "raise ATOLL_INIT_TIMEOUT"},
                     [&] { front::new_job(bootstrap::create_thread(hub, 0), settings_with(0, 0.02)); });
    }
}

TEST(Start, OpensGpusHoweverLongThatTakesAPe) {
    std::atomic<std::uint64_t> waits_of_pe0{UINT64_MAX};
    run_pes(2, [&](Job& job) {
        // Each PE, here a thread, has its own settings.
        double& wait_timeout_s = const_cast<common::Settings&>(job.state().settings()).wait_timeout_s;
        const common::BoardView& board = job.state().board();
        job.state().devices().open_by([&](const gpu::DeviceChoice&) {
            wait_timeout_s = no_time;
            if (job.my_pe() == 0) {
                waits_of_pe0 = board.entry(0).waits.load();
            } else {
                while (waits_of_pe0 == UINT64_MAX) ::sched_yield();
                outlast(board, waits_of_pe0);
            }
            return std::make_unique<FakeHeap>(Faults{}, std::size_t{64} << 20, std::size_t{2} << 20);
        });
        void* block = job.malloc(1, Memory::device);  // in memory that the opening allocated
        EXPECT_EQ(wait_timeout_s, no_time);
        wait_timeout_s = 60;
        job.free(block);
    });
}

TEST(Start, OnceOverBoundsNothing) {
    ThreadJobOptions options;
    options.wait_timeout_s = 0.01;
    run_pes(
        1,
        [](Job& job) {
            const SymmetricArray<int> x(job, 1);
            expect_error(ErrorCode::timeout,
                         {". Give this wait more time: raise ATOLL_WAIT_TIMEOUT, or find out"},
                         [&] { job.context().wait_until(x.data(), Compare::ne, 0); });
            expect_error(ErrorCode::timeout, {". Give this wait more time, or find out why"},
                         [&] { job.context().wait_until(x.data(), Compare::ne, 0, 0.001); });
        },
        options);
}

/// A thread waits while another thread of its PE starts something.
TEST(Start, IsOfOneThread) {
    core::StartWaits waits;
    EXPECT_FALSE(waits.are_this_threads());
    {
        const core::StartWaits::Scope outer(waits);
        EXPECT_TRUE(waits.are_this_threads());
        { const core::StartWaits::Scope inner(waits); }
        EXPECT_TRUE(waits.are_this_threads());
        std::thread([&] { EXPECT_FALSE(waits.are_this_threads()); }).join();
    }
    EXPECT_FALSE(waits.are_this_threads());
}

}  // namespace
}  // namespace atl::testing
