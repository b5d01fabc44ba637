// A PE that ends without finalize, or an aborted job, ends every wait that needs it, with its name. No PE
// hangs.
#include "common/clock.hpp"
#include "core/sync/exited_pes.hpp"
#include "support/setups.hpp"

#include <atomic>
#include <thread>

namespace atl::testing {
namespace {

class Absence : public WithPes {
  protected:
    void SetUp() override {
        if (pes_are_processes) GTEST_SKIP() << "the PEs of this job are still needed";
        if (n_pes() == 1) GTEST_SKIP() << "nobody can be absent";
    }
    /// The last PE leaves; each other one calls `call`, which must throw and name a missing PE.
    void leave_and_call(const std::string& operation, const std::function<void(Job&)>& call) const {
        ThreadJobOptions options;
        options.finalize = false;
        run(
            [&](Job& job) {
                const int last = job.n_pes() - 1;
                job.world().sync();
                if (job.my_pe() == last) return;
                expect_error(ErrorCode::pe_died, {operation, "PE "}, [&] { call(job); });
                // Local calls still work.
                EXPECT_EQ(job.n_pes(), last + 1);
                EXPECT_FALSE(job.is_symmetric(nullptr));
            },
            options);
    }
};

TEST_P(Absence, InMeetings) {
    leave_and_call("sync", [](Job& job) { job.world().sync(); });
    leave_and_call("barrier", [](Job& job) { job.world().barrier(); });
    leave_and_call("split", [](Job& job) { job.world().split(0, 0); });
    leave_and_call("allocate", [](Job& job) { job.malloc(100); });
    leave_and_call("mailbox", [](Job& job) { Mailbox(job, 8); });
    leave_and_call("finalize", [](Job& job) { job.finalize(); });
}

TEST_P(Absence, IsNamedWhereItIsAwaited) {
    const std::string last = "PE " + std::to_string(n_pes() - 1);
    leave_and_call(last, [](Job& job) {
        char byte = 0;
        job.world().recv_bytes(&byte, 1, job.n_pes() - 1);
    });
    leave_and_call(last, [](Job& job) {
        // More than the channel holds, so the send has to wait for its receiver.
        const std::vector<char> large(1 << 20);
        job.world().send_bytes(large.data(), large.size(), job.n_pes() - 1);
    });
    leave_and_call(last, [](Job& job) {
        char bytes[2];
        MessageGroup group(job.world());
        group.recv_bytes(bytes, 1, job.n_pes() - 1);
        group.send_bytes(bytes + 1, 1, job.my_pe());
        group.run();
    });
}

TEST_P(Absence, OfAllOthersEndsAWaitForAWord) {
    ThreadJobOptions options;
    options.finalize = false;
    run(
        [](Job& job) {
            SymmetricArray<std::uint64_t> word(job, 2);
            job.world().sync();
            if (job.my_pe() != 0) {
                // Its last write is still seen.
                if (job.my_pe() == 1) job.context().signal_set(word.data(), 5, 0);
                job.context().quiet();
                return;
            }
            EXPECT_EQ(job.context().signal_wait_until(word.data(), Compare::eq, 5), 5u);
            expect_error(ErrorCode::pe_died, {"signal_wait_until on heap+", "found 0", "== 6"},
                         [&] { job.context().signal_wait_until(&word[1], Compare::eq, 6); });
            expect_error(ErrorCode::pe_died, {"wait_until_any"},
                         [&] { job.context().wait_until_any(word.data(), 2, nullptr, Compare::eq, 7); });
        },
        options);
}

TEST_P(Absence, OfAStrangerDoesNotDisturbATeam) {
    ThreadJobOptions options;
    options.finalize = false;
    run(
        [](Job& job) {
            const int last = job.n_pes() - 1;
            const Team rest = job.world().split(job.my_pe() == last ? 1 : 0, 0);
            if (job.my_pe() == last) return;
            for (int i = 0; i < 100; ++i) rest.barrier();
            Team pair = rest.split(0, -rest.my_pe());
            pair.sync();
            pair.destroy();
        },
        options);
}

TEST_P(Absence, AnAbortReachesEveryWait) {
    ThreadJobOptions options;
    options.finalize = false;
    std::atomic<int> beyond_sync{0};  // between hosts one PE may return from sync before the others
    run(
        [&](Job& job) {
            SymmetricArray<int> word(job, 1);
            SymmetricArray<std::int64_t> lock(job, 1);
            if (job.my_pe() == 1) set_lock(job, lock.data());
            job.world().sync();
            ++beyond_sync;
            while (beyond_sync != job.n_pes()) std::this_thread::yield();
            if (job.my_pe() == job.n_pes() - 1)
                job.state().board().abort(job.my_pe(), 3,
                                          "PE " + std::to_string(job.my_pe()) + " had enough");
            const std::string why = "PE " + std::to_string(job.n_pes() - 1) + " had enough";
            expect_error(ErrorCode::pe_died, {why, "wait_until"},
                         [&] { job.context().wait_until(word.data(), Compare::eq, 1); });
            // For a lock on another host the transport may report it first, with its own text.
            const char* where = job.state().topology().hosts().n_domains > 1 ? "noticed in" : "set_lock";
            if (job.my_pe() != 1)
                expect_error(ErrorCode::pe_died, {why, where}, [&] { set_lock(job, lock.data()); });
            char byte = 0;
            expect_error(ErrorCode::pe_died, {why, "recv"}, [&] { job.world().recv_bytes(&byte, 1, 0); });
        },
        options);
}

// The launcher writes to the board that a PE died, and after that how. A wait must not end between the two.
TEST_P(Absence, ADeathIsFinalOnlyAfterTheTimeForItsExplanation) {
    ThreadJobOptions options;
    options.finalize = false;
    std::atomic<bool> is_done{false};  // a PE that ends writes its own state
    std::atomic<int> n_synced{0};      // a PE that still waits in sync would report the false states below
    run(
        [&](Job& job) {
            job.world().sync();
            ++n_synced;
            n_synced.notify_all();
            if (job.my_pe() != 0) return is_done.wait(false);
            for (int n = n_synced; n < job.n_pes(); n = n_synced) n_synced.wait(n);
            constexpr std::uint64_t hour_ns = 3'600'000'000'000;
            const int last = job.n_pes() - 1;
            job.state().board().set_state(last, common::PeState::died);
            const auto died = core::ExitedPes::among(job.state(), &last, 1);
            EXPECT_TRUE(died);
            EXPECT_EQ(died.text(), "PE " + std::to_string(last) + " died");
            EXPECT_FALSE(died.is_final(common::now_ns() + hour_ns));
            EXPECT_TRUE(died.is_final(0));
            job.state().board().set_state(last, common::PeState::finalized);
            EXPECT_TRUE(core::ExitedPes::among(job.state(), &last, 1).is_final(common::now_ns() + hour_ns));
            is_done = true;
            is_done.notify_all();
        },
        options);
}

INSTANTIATE_TEST_SUITE_P(Pes, Absence, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
