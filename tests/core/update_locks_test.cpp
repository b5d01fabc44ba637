// Update locks: exclusion, closing by atomic operations, and holders that end.
#include "support/setups.hpp"

#include "core/sync/update_locks.hpp"

namespace atl::testing {
namespace {

class UpdateLocks : public WithPes {};

constexpr std::uint64_t serial = 77;

/// The word of PE 0. Null on all PEs if a transport lies between some of them: then no PE takes the lock.
core::UpdateWord* word_of_first(Job& job) {
    for (int pe = 0; pe < job.n_pes(); ++pe)
        if (!job.context().map().slot(pe).is_near()) return nullptr;
    const core::Arena& arena = job.state().arena();
    const auto* own = core::update_word(arena.updates(), serial);
    return static_cast<core::UpdateWord*>(arena.address(0, arena.offset(own)));
}

TEST_P(UpdateLocks, ExcludeUntilClosed) {
    run([](Job& job) {
        SymmetricArray<long> count(job, 1);
        const Context& ctx = job.context();
        auto* const word = word_of_first(job);
        if (word == nullptr) return;
        constexpr int rounds = 400;
        int held = 0;
        for (int i = 0; i < rounds; ++i) {
            if (i == rounds / 2 && job.my_pe() == job.n_pes() - 1) core::close_updates(job.state(), serial);
            const core::UpdateLock lock(job.state(), *word, "accumulate");
            if (lock.is_held()) {
                ++held;
                ctx.p(count.data(), ctx.g(count.data(), 0) + 1, 0);
            } else {
                ctx.atomic_add(count.data(), 1L, 0);
            }
        }
        job.world().barrier();
        EXPECT_EQ(ctx.g(count.data(), 0), long{rounds} * job.n_pes());
        EXPECT_EQ(word->load(), core::closed_updates);
        if (job.my_pe() == job.n_pes() - 1) {
            EXPECT_EQ(held, rounds / 2);
        }
        job.world().barrier();
    });
}

TEST_P(UpdateLocks, AHolderThatEndsIsNamed) {
    if (n_pes() == 1 || pes_are_processes) GTEST_SKIP() << "nobody else can hold it";
    ThreadJobOptions options;
    options.finalize = false;
    run(
        [](Job& job) {
            auto* const word = word_of_first(job);
            if (word == nullptr) return;
            if (job.my_pe() == 1) word->store(2);  // held until its end
            job.world().sync();
            if (job.my_pe() == 1) return;  // leaves without finalize
            try {
                const core::UpdateLock lock(job.state(), *word, "accumulate");
                FAIL() << "PE 1 holds the word";
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::pe_died);
                EXPECT_NE(std::string(error.what()).find("accumulate"), std::string::npos) << error.what();
            }
        },
        options);
}

TEST_P(UpdateLocks, AFreeWordIsRefusedAfterTheEnd) {
    if (pes_are_processes) GTEST_SKIP() << "it would end the program";
    ThreadJobOptions options;
    options.finalize = false;
    run(
        [](Job& job) {
            auto* const word = word_of_first(job);
            if (word == nullptr) return;
            job.world().sync();
            if (job.my_pe() == 0) job.state().board().abort(0, 1, "PE 0 has ended");
            try {
                while (true) const core::UpdateLock lock(job.state(), *word, "accumulate");
            } catch (const Error& error) {
                EXPECT_EQ(error.code(), ErrorCode::pe_died);
                EXPECT_STREQ(error.what(), "PE 0 has ended (noticed in accumulate)");
                EXPECT_FALSE(word->load() == static_cast<std::uint32_t>(job.my_pe()) + 1);
            }
        },
        options);
}

INSTANTIATE_TEST_SUITE_P(Pes, UpdateLocks, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
