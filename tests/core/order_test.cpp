// Litmus tests of the memory model, looped: the guarantees of fence, quiet, signals and waits across PEs.
#include "support/setups.hpp"

#include <algorithm>

namespace atl::testing {
namespace {

class Order : public WithPes {
  protected:
    /// If PEs have a core each, a round is short, and only many rounds show a defect.
    static int rounds(const Job& job) { return n_pes() > 2 ? 150 : is_near(job) ? 2000 : 500; }
};

TEST_P(Order, MessagePassing) {
    run([](Job& job) {
        SymmetricArray<long> data(job, 40), flag(job, 1);
        SymmetricArray<std::uint64_t> read(job, 1);
        const Context& c = job.context();
        std::vector<long> mine(40);
        for (long i = 1; i <= rounds(job); ++i) {
            std::fill(mine.begin(), mine.end(), i);
            c.put(data.data(), mine.data(), static_cast<std::size_t>(1 + i % 40), right_of(job));
            c.fence();
            c.p(flag.data(), i, right_of(job));
            c.wait_until(flag.data(), Compare::ge, i);
            for (std::size_t k = 0; k < static_cast<std::size_t>(1 + i % 40); ++k) ASSERT_EQ(data[k], i);
            c.signal_add(read.data(), 1, left_of(job));
            c.quiet();
            c.wait_until(read.data(), Compare::ge, static_cast<std::uint64_t>(i));
        }
        job.world().barrier();
    });
}

TEST_P(Order, ChainsOfFences) {
    run([](Job& job) {
        // Each word is fenced behind the one before it, so a PE that sees a later one sees all earlier ones.
        SymmetricArray<long> words(job, 5);
        const Context& c = job.context();
        for (long i = 1; i <= rounds(job); ++i) {
            for (std::size_t k = 0; k < 5; ++k) {
                if (k == 2)
                    c.atomic_set(&words[k], i, right_of(job));
                else
                    c.p(&words[k], i, right_of(job));
                c.fence();
            }
            long newest = 0;
            for (std::size_t k = 5; k-- > 0;) {
                const long found = c.atomic_fetch(&words[k], job.my_pe());
                ASSERT_GE(found, newest) << "word " << k;
                newest = found;
            }
        }
        job.world().barrier();
    });
}

TEST_P(Order, StoreBuffering) {
    run([](Job& job) {
        const int n = job.n_pes();
        SymmetricArray<long> x(job, static_cast<std::size_t>(n)), seen(job, static_cast<std::size_t>(n));
        const Context& c = job.context();
        const auto me = static_cast<std::size_t>(job.my_pe());
        const auto partner = me ^ 1;
        const bool paired = partner < static_cast<std::size_t>(n);
        for (long i = 1; i <= rounds(job); ++i) {
            if (paired) {
                c.p(&x[me], i, 0);
                c.quiet();
                c.p(&seen[me], c.g(&x[partner], 0), 0);
            }
            job.world().barrier();
            if (paired) {
                const long mine = c.g(&seen[me], 0), theirs = c.g(&seen[partner], 0);
                ASSERT_TRUE(mine == i || theirs == i)
                    << "neither store was seen: " << mine << " and " << theirs;
            }
            job.world().barrier();
        }
    });
}

TEST_P(Order, PutSignalChain) {
    run([](Job& job) {
        const int n = job.n_pes();
        constexpr std::size_t count = 30;
        SymmetricArray<long> data(job, count);
        SymmetricArray<std::uint64_t> signal(job, 1);
        const Context& c = job.context();
        std::vector<long> next(count);
        for (long i = 1; i <= rounds(job); ++i) {
            if (job.my_pe() != 0) {
                c.signal_wait_until(signal.data(), Compare::ge, static_cast<std::uint64_t>(i));
                for (std::size_t k = 0; k < count; ++k) ASSERT_EQ(data[k], 1000 * i + job.my_pe() - 1);
            }
            std::fill(next.begin(), next.end(), 1000 * i + job.my_pe());
            if (job.my_pe() + 1 < n)
                c.put_signal(data.data(), next.data(), count, signal.data(), 1, SignalOp::add,
                             job.my_pe() + 1);
            job.world().barrier();
        }
    });
}

TEST_P(Order, PutsCompletedBeforeTheChainAreVisibleAtItsEnd) {
    run([](Job& job) {
        const int last = job.n_pes() - 1;
        SymmetricArray<long> far(job, 20);
        SymmetricArray<std::uint64_t> signal(job, 1);
        const Context& c = job.context();
        for (long i = 1; i <= rounds(job); ++i) {
            const std::vector<long> mine(20, i);
            if (job.my_pe() == 0) {
                c.put(far.data(), mine.data(), 20, last);
                c.quiet();
            } else {
                c.signal_wait_until(signal.data(), Compare::ge, static_cast<std::uint64_t>(i));
            }
            if (job.my_pe() < last) c.signal_add(signal.data(), 1, job.my_pe() + 1);
            if (job.my_pe() == last) {
                for (const long value : far) ASSERT_EQ(value, i);
            }
            job.world().barrier();
        }
    });
}

TEST_P(Order, TwoWritersAreSeenInOneOrder) {
    run([](Job& job) {
        if (job.n_pes() < 4) return;
        SymmetricArray<long> x(job, 1), y(job, 1), seen(job, 4);
        const Context& c = job.context();
        for (long i = 1; i <= rounds(job); ++i) {
            job.world().sync();
            long first = 0, second = 0;
            switch (job.my_pe()) {
                case 0:
                    c.atomic_set(x.data(), i, 2);
                    break;
                case 1:
                    c.atomic_set(y.data(), i, 3);
                    break;
                case 2:
                    first = c.atomic_fetch(x.data(), 2);
                    c.quiet();
                    second = c.atomic_fetch(y.data(), 3);
                    break;
                case 3:
                    first = c.atomic_fetch(y.data(), 3);
                    c.quiet();
                    second = c.atomic_fetch(x.data(), 2);
                    break;
                default:
                    break;
            }
            if (job.my_pe() == 2 || job.my_pe() == 3) {
                const auto k = static_cast<std::size_t>(2 * (job.my_pe() - 2));
                c.p(&seen[k], first, 0);
                c.p(&seen[k + 1], second, 0);
            }
            job.world().barrier();
            if (job.my_pe() == 0) {
                ASSERT_FALSE(seen[0] == i && seen[1] < i && seen[2] == i && seen[3] < i)
                    << "one reader saw x before y, the other y before x";
            }
        }
        job.world().barrier();
    });
}

TEST_P(Order, AWordNeverGoesBack) {
    run([](Job& job) {
        SymmetricArray<long> word(job, 1);
        const Context& c = job.context();
        long last = 0;
        for (long i = 1; i <= 4 * rounds(job); ++i) {
            c.p(word.data(), i, right_of(job));
            c.fence();
            const long found = c.g(word.data(), job.my_pe());
            ASSERT_GE(found, last);
            last = found;
        }
        job.world().barrier();
        EXPECT_EQ(word[0], 4 * rounds(job));
        job.world().barrier();
    });
}

TEST_P(Order, ABarrierShowsPutsToThirdPes) {
    run([](Job& job) {
        const auto n = static_cast<std::size_t>(job.n_pes());
        SymmetricArray<long> x(job, n);
        const Context& c = job.context();
        for (long i = 1; i <= rounds(job); ++i) {
            c.p(&x[static_cast<std::size_t>(job.my_pe())], i, right_of(job));
            job.world().barrier();
            // Every PE sees what PE k put to its right neighbour.
            for (int k = 0; k < job.n_pes(); ++k)
                ASSERT_EQ(c.g(&x[static_cast<std::size_t>(k)], (k + 1) % job.n_pes()), i);
            job.world().sync();
        }
    });
}

TEST_P(Order, PlainStoresAreSeenAfterSync) {
    run([](Job& job) {
        SymmetricArray<long> x(job, 10);
        for (long i = 1; i <= rounds(job); ++i) {
            for (long& value : x) value = i;
            job.world().sync();
            std::vector<long> theirs(10);
            job.context().get(theirs.data(), x.data(), 10, left_of(job));
            ASSERT_EQ(theirs, std::vector<long>(10, i));
            job.world().sync();
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, Order, ::testing::ValuesIn(all_setups()), setup_name);

}  // namespace
}  // namespace atl::testing
