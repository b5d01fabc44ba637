// The process's current job: init and finalize, and objects that may outlive them.
#include "atoll/ops.hpp"
#include "core/job/job_state.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

TEST(CurrentJob, ShortNamesOfAveragesAndScaledSums) {
    atl::init();
    const float src[] = {1, 2, 3};
    float dst[3] = {};
    atoll::avg_reduce(dst, src);
    EXPECT_EQ(dst[2], 3);
    atoll::premul_sum_reduce(dst, src, 0.5);
    EXPECT_EQ(dst[2], 1.5f);
    atoll::premul_sum_reduce_scatter(dst, src, 2);
    EXPECT_EQ(dst[2], 6);
    atl::finalize();
}

TEST(CurrentJob, AnArrayOfMainIsDestroyedAfterFinalize) {
    atl::SymmetricArray<int> x(atl::init(), 10);
    x[9] = 3;
    EXPECT_EQ(atoll::g(&x[9], 0), 3);
    atl::finalize();
    EXPECT_FALSE(atl::is_initialized());
}

TEST(CurrentJob, AnArrayOfAnEarlierJobDropsNothingOfTheNext) {
    {
        atl::SymmetricArray<int> earlier(atl::init(), 10);
        atl::finalize();
        atl::init();
    }
    const atl::SymmetricArray<int> first(atl::current_job(), 10), second(atl::current_job(), 10);
    EXPECT_EQ(atl::current_job().heap_use().blocks, 2u);
    EXPECT_NE(first.data(), second.data());
    atl::finalize();
}

TEST(CurrentJob, AFurtherInitMustMeanTheSameJob) {
    const std::string id = atl::get_unique_id();
    atl::JobOptions options;
    options.unique_id = id;
    options.pe = 0;
    options.n_pes = 1;
    atl::init(options);
    atl::init(options);
    atl::init();
    const auto refused = [&](auto change, const char* what) {
        atl::JobOptions other = options;
        change(other);
        try {
            atl::init(other);
            ADD_FAILURE() << "nothing was thrown for " << what;
        } catch (const atl::Error& error) {
            EXPECT_EQ(error.code(), atl::ErrorCode::invalid_argument);
            const std::string text = error.what();
            EXPECT_NE(text.find(what), std::string::npos) << text;
            EXPECT_NE(text.find("this process is PE 0 of 1"), std::string::npos) << text;
        }
    };
    refused([](auto& o) { o.pe = 7; }, "pe 7");
    refused([](auto& o) { o.n_pes = 99; }, "n_pes 99");
    refused([](auto& o) { o.unique_id = "x"; }, "another unique id");
    for (int i = 0; i < 3; ++i) atl::finalize();
    EXPECT_FALSE(atl::is_initialized());
}

TEST(CurrentJob, ThreadsMayInitAndFinalizeAtOnce) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            ++ready;
            while (ready != 4) std::this_thread::yield();
            for (int i = 0; i < 25; ++i) {
                EXPECT_EQ(atl::init().n_pes(), 1);
                atl::finalize();
            }
        });
    for (std::thread& t : threads) t.join();
    EXPECT_FALSE(atl::is_initialized());
    EXPECT_THROW(atl::finalize(), atl::Error);
}

TEST(CurrentJob, AThreadThatWaitsHearsThatTheJobWasFinalized) {
    static std::uint64_t* word;  // symmetric; the thread reads it after this function's job has ended
    word = static_cast<std::uint64_t*>(atl::init().calloc(1, sizeof *word));
    std::atomic<bool> heard{false};
    std::thread waiting([&] {
        try {
            atl::current_job().context().wait_until(word, atl::Compare::eq, std::uint64_t{1});
        } catch (const atl::Error& error) {
            heard = error.code() == atl::ErrorCode::not_initialized;
        }
    });
    while (!atl::current_job().state().waits().are_left()) std::this_thread::yield();
    atl::finalize();
    waiting.join();
    EXPECT_TRUE(heard);
}

TEST(CurrentJob, AFailedInitMayBeTriedAgain) {
    atl::JobOptions nonsense;
    nonsense.pe = 3;
    EXPECT_THROW(atl::init(nonsense), atl::Error);
    EXPECT_FALSE(atl::is_initialized());
    EXPECT_EQ(atl::init().n_pes(), 1);
    atl::finalize();
}

}  // namespace
