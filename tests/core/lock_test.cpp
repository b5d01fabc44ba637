// Locks: exclusion, order of arrival, abandoned waits, misuse, and holders that end.
#include "support/setups.hpp"

#include <mutex>

namespace atl::testing {
namespace {

ErrorCode code_of(const std::function<void()>& call, std::string* text = nullptr) {
    try {
        call();
    } catch (const Error& error) {
        if (text) *text = error.what();
        return error.code();
    }
    return ErrorCode{};
}

class Locks : public WithPes {};

TEST_P(Locks, Exclude) {
    run([](Job& job) {
        Lock lock(job);
        SymmetricArray<long> count(job, 2);
        constexpr int rounds = 300;
        for (int i = 0; i < rounds; ++i) {
            const std::lock_guard guard(lock);
            // Plain loads and stores on PE 0: only the lock separates them, and clear_lock completes them.
            const long a = job.context().g(count.data(), 0);
            EXPECT_EQ(job.context().g(count.data() + 1, 0), a);
            job.context().p(count.data(), a + 1, 0);
            job.context().p(count.data() + 1, a + 1, 0);
        }
        job.world().barrier();
        EXPECT_EQ(job.context().g(count.data(), 0), long{rounds} * job.n_pes());
        job.world().barrier();
        lock.free();
    });
}

TEST_P(Locks, ManyWordsInOneArray) {
    run([](Job& job) {
        SymmetricArray<std::int64_t> words(job, 16);
        SymmetricArray<long> sums(job, 16);
        for (std::size_t i = 0; i < 320; ++i) {
            const std::size_t k = (i * 7 + static_cast<std::size_t>(job.my_pe())) % 16;
            set_lock(job, &words[k]);
            job.context().p(&sums[k], job.context().g(&sums[k], 0) + 1, 0);
            clear_lock(job, &words[k]);
        }
        job.world().barrier();
        long total = 0;
        for (std::size_t k = 0; k < 16; ++k) total += job.context().g(&sums[k], 0);
        EXPECT_EQ(total, 320L * job.n_pes());
        job.world().barrier();
    });
}

TEST_P(Locks, TryNeverWaits) {
    run([](Job& job) {
        Lock lock(job);
        if (job.my_pe() == 0) {
            EXPECT_TRUE(lock.try_lock());
            EXPECT_FALSE(lock.try_lock());
        }
        job.world().sync();
        if (job.my_pe() != 0) {
            EXPECT_FALSE(lock.try_lock());
        }
        job.world().sync();
        if (job.my_pe() == 0) lock.unlock();
        job.world().sync();
        if (job.my_pe() == job.n_pes() - 1) {
            EXPECT_TRUE(lock.try_lock());
            lock.unlock();
        }
        job.world().sync();
    });
}

TEST_P(Locks, MisuseIsNamed) {
    run([](Job& job) {
        Lock lock(job);
        SymmetricArray<std::int64_t> word(job, 2);
        std::string text;
        EXPECT_EQ(code_of([&] { lock.unlock(); }, &text), ErrorCode::invalid_argument);
        EXPECT_NE(text.find("does not hold"), std::string::npos) << text;
        lock.lock();
        EXPECT_EQ(code_of([&] { lock.lock(); }, &text), ErrorCode::invalid_argument);
        EXPECT_NE(text.find("not recursive"), std::string::npos) << text;
        lock.unlock();
        EXPECT_EQ(code_of([&] { lock.unlock(); }), ErrorCode::invalid_argument);
        std::int64_t local = 0;
        EXPECT_EQ(code_of([&] { set_lock(job, &local); }), ErrorCode::not_symmetric);
        auto* crooked = reinterpret_cast<std::int64_t*>(reinterpret_cast<char*>(word.data()) + 4);
        EXPECT_EQ(code_of([&] { set_lock(job, crooked); }), ErrorCode::invalid_argument);
        lock.lock();  // still usable
        lock.unlock();
        job.world().sync();
    });
}

TEST_P(Locks, FirstComeFirstServed) {
    const int n = n_pes();
    run([n](Job& job) {
        SymmetricArray<std::int64_t> word(job, 1);
        SymmetricArray<int> turn(job, 2);  // the PE that may queue; the number served
        if (job.my_pe() == 0) set_lock(job, word.data());
        job.world().sync();
        if (job.my_pe() != 0) {
            // PE i enters the queue once the PE before it is queued, which shows in its node.
            job.context().wait_until(turn.data(), Compare::eq, job.my_pe());
            set_lock(job, word.data());
            const int place = job.context().g(turn.data() + 1, 0);
            EXPECT_EQ(place, job.my_pe() - 1);
            job.context().p(turn.data() + 1, place + 1, 0);
            clear_lock(job, word.data());
        } else {
            for (int pe = 1; pe < n; ++pe) {
                job.context().p(turn.data(), pe, pe);
                // The tail, on some PE, names the last in the queue: that PE once it has entered.
                const auto last = static_cast<std::uint32_t>(pe) + 1;
                for (bool entered = false; !entered;) {
                    for (int home = 0; home < n && !entered; ++home)
                        entered =
                            static_cast<std::uint32_t>(job.context().atomic_fetch(word.data(), home)) == last;
                    std::this_thread::yield();
                }
            }
            clear_lock(job, word.data());
        }
        job.world().barrier();
    });
}

TEST_P(Locks, GivingUpLeavesTheQueueUsable) {
    run([](Job& job) {
        SymmetricArray<std::int64_t> word(job, 1);
        for (int round = 0; round < 3; ++round) {
            if (job.my_pe() == 0) set_lock(job, word.data());
            job.world().sync();
            if (job.my_pe() != 0) {
                std::string text;
                EXPECT_EQ(code_of([&] { set_lock(job, word.data(), 0.002); }, &text), ErrorCode::timeout);
                EXPECT_NE(text.find("set_lock on heap+"), std::string::npos) << text;
                EXPECT_TRUE(text.find("queue is PE 0") != std::string::npos ||
                            text.find("queue are PEs 0") != std::string::npos)
                    << text;
                EXPECT_EQ(code_of([&] { clear_lock(job, word.data()); }), ErrorCode::invalid_argument);
                EXPECT_FALSE(test_lock(job, word.data()));
            }
            job.world().sync();
            if (job.my_pe() == 0) clear_lock(job, word.data());
            // Some give up while others return.
            if (job.my_pe() % 2 == 1) job.world().sync();
            set_lock(job, word.data());
            clear_lock(job, word.data());
            if (job.my_pe() % 2 == 0) job.world().sync();
            job.world().sync();
        }
    });
}

TEST_P(Locks, RandomGivingUp) {
    run([](Job& job) {
        SymmetricArray<std::int64_t> word(job, 1);
        SymmetricArray<long> count(job, 1);
        long entered = 0;
        for (int i = 0; i < 200; ++i) {
            if (code_of([&] { set_lock(job, word.data(), i % 3 == 0 ? 1e-7 : -1); }) == ErrorCode::timeout)
                continue;
            job.context().p(count.data(), job.context().g(count.data(), 0) + 1, 0);
            if (i % 5 == 0) std::this_thread::yield();
            ++entered;
            clear_lock(job, word.data());
        }
        SymmetricArray<long> sum(job, 1);
        job.context().atomic_add(sum.data(), entered, 0);
        job.world().barrier();
        EXPECT_EQ(job.context().g(count.data(), 0), job.context().g(sum.data(), 0));
        job.world().barrier();
    });
}

TEST_P(Locks, AHolderThatEndsIsNamed) {
    if (n_pes() == 1 || pes_are_processes) GTEST_SKIP() << "nobody else can hold it";
    ThreadJobOptions options;
    options.finalize = false;
    run(

        [](Job& job) {
            SymmetricArray<std::int64_t> word(job, 1);
            if (job.my_pe() == 1) set_lock(job, word.data());
            job.world().sync();
            if (job.my_pe() == 1) return;  // leaves without finalize, holding the lock
            std::string text;
            EXPECT_EQ(code_of([&] { set_lock(job, word.data()); }, &text), ErrorCode::pe_died);
            EXPECT_NE(text.find("PE "), std::string::npos) << text;
        },
        options);
}

INSTANTIATE_TEST_SUITE_P(Pes, Locks, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
