// Without a launcher: PEs that end, die or compute forever, and the fate of the others.
#include "bootstrap/bootstrap.hpp"
#include "support/forked.hpp"
#include "support/quick_settings.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <thread>

namespace atl::bootstrap {
namespace {

using test::Forked;
using test::Outcome;
using test::quick_settings;
using test::run_forked;

/// A job's start in core: set up, then watched.
struct Joined {
    Joined(const std::string& id, int pe, int n_pes)
        : bootstrap(create_unique_id(quick_settings(), id, pe, n_pes)) {
        segment = bootstrap->host_segment();
        segment.board.set_state(pe, common::PeState::running);
        monitor = bootstrap->monitor(segment.board);
        // Waits until all PEs have joined. A fence does not suffice: PE 0 may die before it has answered all
        // PEs.
        segment.board.entry(pe).waits = 1;
        for (int other = 0; other < n_pes; ++other)
            while (segment.board.entry(other).waits.load() == 0) std::this_thread::yield();
    }
    void leave(bool finalized) {
        monitor.reset();
        bootstrap->goodbye(finalized);
    }
    /// Waits until the board reports that the job is over.
    std::string wait_for_abort() const {
        while (segment.board.header().abort.load(std::memory_order_acquire) == 0) std::this_thread::yield();
        return segment.board.header().abort_text;
    }

    std::unique_ptr<Bootstrap> bootstrap;
    HostSegment segment;
    std::unique_ptr<Monitor> monitor;
};

[[noreturn]] void compute_for_ever() {
    for (std::atomic<unsigned long> i{0};;) ++i;
}

TEST(Death, OfAnyPeReachesThoseThatWait) {
    for (const int victim : {0, 1, 2}) {
        const std::string id = get_unique_id();
        const auto outcomes = run_forked(3, [&](int pe) {
            Joined job(id, pe, 3);
            if (pe == victim) ::kill(::getpid(), SIGKILL);
            const std::string text = job.wait_for_abort();
            EXPECT_EQ(job.segment.board.header().abort_pe.load(), victim);
            EXPECT_EQ(job.segment.board.state(victim), common::PeState::died);
            job.leave(false);
            return text;
        });
        for (int pe = 0; pe < 3; ++pe) {
            const Outcome& outcome = outcomes[static_cast<std::size_t>(pe)];
            if (pe == victim) {
                EXPECT_TRUE(outcome.ended_by(SIGKILL));
                continue;
            }
            EXPECT_TRUE(outcome.ok()) << outcome.status;
            EXPECT_EQ(outcome.text.find("PE " + std::to_string(victim) + " (process "), 0u) << outcome.text;
            EXPECT_NE(outcome.text.find("died"), std::string::npos) << outcome.text;
        }
    }
}

TEST(Death, EndsPesInEndlessComputation) {
    for (const int victim : {0, 1}) {
        const std::string id = get_unique_id();
        const auto outcomes = run_forked(3, [&](int pe) -> std::string {
            // PE 2 ignores SIGTERM and needs SIGKILL. Set before joining: the victim may die before this PE
            // runs again.
            if (pe == 2) ::signal(SIGTERM, SIG_IGN);
            Joined job(id, pe, 3);
            if (pe == victim) ::kill(::getpid(), SIGKILL);
            compute_for_ever();
        });
        EXPECT_TRUE(outcomes[victim == 0 ? 1 : 0].ended_by(SIGTERM));
        EXPECT_TRUE(outcomes[2].ended_by(SIGKILL));
    }
}

/// Children wait here until the test has observed something.
class Gate {
  public:
    Gate() {
        if (::pipe(ends_) != 0) throw std::runtime_error("pipe");
    }
    ~Gate() { ::close(ends_[0]); }
    void open() { ::close(ends_[1]); }
    /// Called in a child.
    void wait() {
        char byte = 0;
        ::close(ends_[1]);
        static_cast<void>(!::read(ends_[0], &byte, 1));
    }

  private:
    int ends_[2];
};

TEST(Death, IsNotWhatAGoodbyeIs) {
    for (const bool finalized : {true, false}) {
        for (const int first : {0, 1}) {
            const std::string id = get_unique_id();
            Gate first_is_gone;
            Forked leaves([&] {
                Joined job(id, first, 2);
                job.leave(finalized);
                return std::string();
            });
            Forked stays([&] {
                Joined job(id, 1 - first, 2);
                first_is_gone.wait();
                EXPECT_EQ(job.segment.board.state(first),
                          finalized ? common::PeState::finalized : common::PeState::left);
                const bool aborted = job.segment.board.header().abort.load() != 0;
                job.leave(true);
                return std::string(aborted ? job.segment.board.header().abort_text : "");
            });
            EXPECT_TRUE(leaves.wait().ok());
            first_is_gone.open();
            const Outcome outcome = stays.wait();
            EXPECT_TRUE(outcome.ok() && outcome.text.empty()) << outcome.text;
        }
    }
}

TEST(Death, OfAPeWhoseForkedChildLivesOn) {
    for (const int victim : {0, 1}) {
        const std::string id = get_unique_id();
        Gate survivor_is_done;
        Forked dies([&]() -> std::string {
            Joined job(id, victim, 2);
            if (::fork() == 0) {
                ::alarm(60);  // which a child does not inherit
                survivor_is_done.wait();
                ::_exit(0);
            }
            ::kill(::getpid(), SIGKILL);
            return "";
        });
        Forked survives([&] {
            Joined job(id, 1 - victim, 2);
            const std::string text = job.wait_for_abort();
            job.leave(false);
            return text;
        });
        const Outcome outcome = survives.wait();
        EXPECT_TRUE(outcome.ok()) << "status " << outcome.status << ": " << outcome.text;
        EXPECT_NE(outcome.text.find("PE " + std::to_string(victim)), std::string::npos) << outcome.text;
        survivor_is_done.open();
        EXPECT_TRUE(dies.wait().ended_by(SIGKILL));
    }
}

TEST(Abort, EndsAllPesWithItsStatus) {
    for (const int caller : {0, 1}) {
        const std::string id = get_unique_id();
        const auto outcomes = run_forked(3, [&](int pe) -> std::string {
            Joined job(id, pe, 3);
            if (pe != caller) compute_for_ever();
            job.bootstrap->abort(5, "PE " + std::to_string(pe) + " gives up.");
            ::_exit(5);
        });
        for (const Outcome& outcome : outcomes)
            EXPECT_TRUE(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 5) << outcome.status;
    }
}

}  // namespace
}  // namespace atl::bootstrap
