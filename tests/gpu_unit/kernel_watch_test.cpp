// The host's messages to spinning kernels.
#include "gpu/kernel_watch.hpp"

#include "core/job/job_state.hpp"
#include "stream/kernels/world_view.hpp"
#include "support/setups.hpp"

#include <sched.h>

#include <string>
#include <string_view>
#include <tuple>

namespace atl::testing {
namespace {

/// Reads like a kernel: the watch continues to write meanwhile.
unsigned now_in(const unsigned& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

/// Waits until the word is not 0, and returns it.
unsigned awaited(const unsigned& word) {
    for (;;) {
        if (const unsigned now = now_in(word)) return now;
        ::sched_yield();
    }
}

TEST(KernelWatch, TellsWhichPesHaveLeft) {
    constexpr int n = 40;  // more than one word has
    ThreadJobOptions options;
    options.finalize = false;
    run_pes(
        n,
        [](Job& job) {
            job.world().sync();
            if (job.my_pe() != 2) return;
            stream::WorldView view(job.state());
            gpu::KernelWatch watch(view);
            const device::Watch& words = watch.words();
            while (now_in(words.exited) != 2) ::sched_yield();
            EXPECT_EQ(now_in(words.exited_pes[0]), ~(1u << 2)) << "all but this PE";
            EXPECT_EQ(now_in(words.exited_pes[1]), (1u << (n - 32)) - 1);
            EXPECT_EQ(now_in(words.exited_pes[2]), 0u);
        },
        options);
}

TEST(KernelWatch, ShowsWhatKernelsWaitForAndThatThePeDoes) {
    run_pes(1, [](Job& job) {
        stream::WorldView view(job.state());
        gpu::KernelWatch watch(view);
        device::Watch& words = watch.words();
        const auto text = [&] { return job.state().board().doing(0).text; };
        const auto until = [&](const std::string& expected) {
            while (text() != expected) ::sched_yield();
        };
        // Answers whenever asked, like a kernel, so that the answer remains on the board until it was seen.
        const auto answers_until = [&](int team, int peer, unsigned blocks, const std::string& expected) {
            while (text() != expected) {
                if (now_in(words.asked) == 1) {
                    words.waiting = {};
                    words.waiting.operation = device::Operation::reduce;
                    words.waiting.team = team;
                    words.waiting.peer = peer;
                    words.waiting.blocks = blocks;
                    words.waiting.block = 2;
                    words.waiting.thread = 31;
                    __atomic_store_n(&words.asked, 3u, __ATOMIC_RELEASE);
                }
                ::sched_yield();
            }
        };
        answers_until(0, 5, 0, "running, and its GPU waits: reduce, for PE 5");
        until("in its own code");
        answers_until(2, 1, 4,
                      "running, and its GPU waits: reduce, for team PE 1 of team 2, at thread 31 of block 2");
        {
            const gpu::KernelWatch::Finish finish(&watch);
            until("its GPU waits: its stream");
            EXPECT_TRUE(job.state().board().doing(0).waits);
        }
        until("in its own code");
    });
}

TEST(KernelWatch, TellsThatTheJobIsOver) {
    ThreadJobOptions options;
    options.finalize = false;
    run_pes(
        1,
        [](Job& job) {
            stream::WorldView view(job.state());
            gpu::KernelWatch watch(view);
            job.state().board().abort(0, 1, "enough, in this test");
            EXPECT_EQ(awaited(watch.words().abort), 1u);
        },
        options);
}

/// Text of check() for a report of a grid of 4 blocks of 256 threads, after `prepare(watch, report)`.
template <class Prepare> std::string said_of(Prepare&& prepare) {
    std::string said;
    ThreadJobOptions options;
    options.finalize = false;
    run_pes(
        1,
        [&](Job& job) {
            stream::WorldView view(job.state());
            gpu::KernelWatch watch(view);
            device::Report& report = watch.words().report;
            report.peer = -1;
            report.blocks = 4;
            report.threads = 256;
            report.block = 2;
            report.thread = 31;
            const unsigned state = prepare(watch, report);
            __atomic_store_n(&report.state, state, __ATOMIC_RELEASE);
            try {
                watch.check();
            } catch (const Error& error) {
                said = error.what();
            }
        },
        options);
    return said;
}

void says(const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
}

std::string said_after(std::initializer_list<std::tuple<const char*, unsigned, unsigned>> started,
                       std::string_view own_name = {}) {
    return said_of([&](gpu::KernelWatch& watch, device::Report&) {
        for (const auto& [name, blocks, threads] : started) watch.started(name, blocks, threads);
        own_name.copy(watch.words().name, sizeof watch.words().name);
        return 2u;
    });
}

TEST(KernelWatch, NamesTheKernelThatHadTheGrid) {
    says(said_after({}), ", in thread 31 of block 2. The kernel, 4 blocks of 256 threads, was stopped");
    says(said_after({{"other", 5, 256}, {"ring", 4, 256}, {"third", 4, 128}, {"ring", 4, 256}}),
         ". The kernel ring, 4 blocks of 256 threads, was stopped");
    says(said_after({{"ring", 4, 256}, {"sums", 0, 256}}), "The kernel ring or sums, 4 blocks");  // 0: any
    says(said_after({{"ring", 4, 256}}, "tiles"), "The kernel tiles, 4 blocks of 256 threads,");
    const std::string long_name(device::Watch::name_bytes, 'x');  // with no room for its end
    says(said_after({}, long_name), ("The kernel " + long_name + ", 4 blocks"));
}

TEST(KernelWatch, SaysWhyAMessageOfAMailboxWasNotTaken) {
    const auto said_of_sizes = [](std::uint64_t found, std::uint64_t expected) {
        return said_of([&](gpu::KernelWatch&, device::Report& report) {
            report.operation = device::Operation::receive;
            report.subject = device::Subject::word;
            report.compare = Compare::le;
            report.found = found;
            report.expected = expected;
            report.peer = 3;
            return 4u;
        });
    };
    says(said_of_sizes(24, 16), "was sent a message that does not fit its dst, in receive at ");
    says(said_of_sizes(24, 16), "found 24, waiting for <= 16, waiting for team PE 3");
    says(said_of_sizes(12, 16), "was sent a message that is not a whole number of elements, in receive at ");
}

}  // namespace
}  // namespace atl::testing
