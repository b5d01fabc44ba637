// One operation of each kind through every layer, with PEs as threads.
#include "front/new_job.hpp"
#include "support/pe_threads.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace atl::testing {
namespace {

class Spine : public ::testing::TestWithParam<int> {};

TEST_P(Spine, RingOfPuts) {
    run_pes(GetParam(), [](Job& job) {
        const int right = (job.my_pe() + 1) % job.n_pes();
        const int left = (job.my_pe() + job.n_pes() - 1) % job.n_pes();
        SymmetricArray<int> x(job, 100);
        std::vector<int> mine(100);
        std::iota(mine.begin(), mine.end(), 1000 * job.my_pe());
        job.context().put(x.span(), mine, right);
        job.world().barrier();
        for (int i = 0; i < 100; ++i) ASSERT_EQ(x[static_cast<std::size_t>(i)], 1000 * left + i);
        EXPECT_EQ(job.context().g(x.data() + 5, right), 1000 * job.my_pe() + 5);
        x.free();
    });
}

TEST_P(Spine, SignalsAndAtomics) {
    run_pes(GetParam(), [](Job& job) {
        SymmetricArray<std::uint64_t> signal(job, 1);
        SymmetricArray<double> data(job, 1000);
        SymmetricArray<long> count(job, 1);
        const int right = (job.my_pe() + 1) % job.n_pes();
        const std::vector<double> mine(1000, 1.5 + job.my_pe());
        job.context().put_signal(data.data(), mine.data(), 1000, signal.data(), 1, SignalOp::add, right);
        EXPECT_EQ(job.context().signal_wait_until(signal.data(), Compare::ge, 1), 1u);
        EXPECT_EQ(data[999], 1.5 + (job.my_pe() + job.n_pes() - 1) % job.n_pes());
        for (int i = 0; i < 1000; ++i) job.context().atomic_inc(count.data(), 0);
        job.world().barrier();
        EXPECT_EQ(job.context().atomic_fetch(count.data(), 0), 1000 * job.n_pes());
        job.world().barrier();
    });
}

TEST_P(Spine, TeamsAreUsableAtOnce) {
    run_pes(GetParam(), [](Job& job) {
        for (int k = 0; k < 20; ++k) {
            Team half = job.world().split(job.my_pe() % 2, -job.my_pe());
            half.sync();
            EXPECT_EQ(half.world_pe(half.my_pe()), job.my_pe());
            Team inner = half.split_strided(0, 1, half.n_pes());
            inner.barrier();
            inner.destroy();
            half.destroy();
        }
    });
}

TEST_P(Spine, DroppedBlocksComeBack) {
    run_pes(GetParam(), [](Job& job) {
        for (int k = 0; k < 200; ++k) SymmetricArray<char> big(job, 1 << 20);  // 200 MiB through a heap of 16
        EXPECT_LT(job.heap_use().used_bytes, std::size_t{3} << 20);
    });
}

TEST_P(Spine, DifferingCallsAreNamed) {
    if (GetParam() == 1) GTEST_SKIP() << "one PE cannot differ from itself";
    run_pes(GetParam(), [](Job& job) {
        try {
            job.allocate(job.my_pe() == 1 ? 800 : 1600);
            ADD_FAILURE() << "not noticed";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::collective_mismatch);
            const std::string text = error.what();
            EXPECT_NE(text.find("PE 0"), std::string::npos) << text;
            EXPECT_NE(text.find("PE 1"), std::string::npos) << text;
            EXPECT_NE(text.find("800"), std::string::npos) << text;
        }
        SymmetricArray<int> works(job, 10);
        job.world().barrier();
    });
}

TEST_P(Spine, ExhaustionIsAnErrorOnEveryPe) {
    run_pes(GetParam(), [](Job& job) {
        try {
            job.malloc(std::size_t{1} << 30);
            ADD_FAILURE() << "not noticed";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
            EXPECT_NE(std::string(error.what()).find("ATOLL_HEAP_SIZE"), std::string::npos);
        }
        EXPECT_NE(job.malloc(100), nullptr);
    });
}

TEST(Settings, DifferingOnesAreNamedOnEveryPe) {
    const auto layout = memory::layout_for(std::size_t{1} << 20);
    const auto hub = bootstrap::create_hub(2, 2 * layout.stride());
    std::vector<std::string> said(2);
    std::vector<std::thread> threads;
    for (int pe = 0; pe < 2; ++pe)
        threads.emplace_back([&, pe] {
            common::Settings settings;
            settings.heap_bytes = std::size_t{1} << 20;
            settings.check = pe == 0 ? common::CheckLevel::all : common::CheckLevel::args;
            try {
                Job job(front::new_job(bootstrap::create_thread(hub, pe), settings));
            } catch (const Error& error) {
                said[static_cast<std::size_t>(pe)] = error.what();
            }
        });
    for (auto& thread : threads) thread.join();
    for (const std::string& text : said) {
        EXPECT_NE(text.find("ATOLL_CHECK=all"), std::string::npos) << text;
        EXPECT_NE(text.find("ATOLL_CHECK=basic or args"), std::string::npos) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Pes, Spine, ::testing::ValuesIn(pe_counts));

}  // namespace
}  // namespace atl::testing
