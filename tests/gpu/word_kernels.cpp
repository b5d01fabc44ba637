// Atomics, waits, strided forms and message passing within kernels.
#include "atoll/device/mailbox.hpp"
#include "gpu/support.hpp"
#include "gpu/words.hpp"
#include "support/multi_main.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdio>
#include <cstdlib>

namespace atl::testing {
namespace {

class WordKernels : public OnDeviceWithKernels {
  protected:
    template <class T> T value(const std::uint64_t* word) {
        T found{};
        check_cuda(cudaMemcpy(static_cast<void*>(&found), word, sizeof found, cudaMemcpyDefault));
        return found;
    }
};

TEST_F(WordKernels, AdditionsOfEveryTypeAtOnce) {
    auto* words = zeros<std::uint64_t>(added_types);
    job_.world().barrier();
    add_to_all_types(team_, words, 60);
    job_.world().barrier();
    if (job_.my_pe() == 0) {
        const double all = 60.0 * job_.n_pes();
        EXPECT_EQ(value<int>(words), all);
        EXPECT_EQ(value<unsigned>(words + 1), all);
        EXPECT_EQ(static_cast<double>(value<long long>(words + 2)), all);
        EXPECT_EQ(static_cast<double>(value<std::uint64_t>(words + 3)), all);
        EXPECT_EQ(value<float>(words + 4), all);
        EXPECT_EQ(value<double>(words + 5), all);
        EXPECT_EQ(static_cast<float>(value<__half>(words + 6)), all);
        EXPECT_EQ(static_cast<float>(value<__nv_bfloat16>(words + 7)), all);
    }
    job_.world().barrier();
    job_.free(words);
}

TEST_F(WordKernels, EachAtomic) {
    auto* word = zeros<std::uint64_t>(1);
    job_.world().barrier();
    each_atomic(team_, word, errors_);
    job_.world().barrier();
    job_.free(word);
}

TEST_F(WordKernels, StridedFormsAndWaits) {
    if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU would take turns at every message";
    auto* x = zeros<int>(40);
    auto* local = zeros<int>(20);
    auto* words = zeros<int>(8);
    job_.world().barrier();
    strided(team_, x, local, errors_);
    waits(team_, words, errors_);
    job_.world().barrier();
    for (int* block : {words, local, x}) job_.free(block);
}

/// With fewer than three PEs, blocks of one kernel are the first and the third. There are fewer rounds if PEs
/// time-slice a GPU.
TEST_F(WordKernels, NewsReachAThirdPeWithTheirData) {
    const char* wished = std::getenv("ATOLL_TEST_LITMUS_ROUNDS");
    const auto many = wished ? std::strtoull(wished, nullptr, 10) : 20000ull;
    const bool in_turns = takes_turns(job_);
    const auto rounds = in_turns ? 10ull : many;
    if (job_.my_pe() == 0)
        std::printf("writer and reader are %s\n", job_.n_pes() < 3 ? "blocks of one PE, for want of a third"
                                                  : in_turns       ? "PEs of which some take turns on a GPU"
                                                                   : "PEs, each with a GPU of its own");
    for (const News how : {News::passed_on, News::own_data, News::after_quiet})
        for (const Together scope : {Together::warp, Together::block}) {
            const std::size_t n = scope == Together::warp ? 3 : 128;
            const ThirdParty parts{zeros<unsigned long long>(n), zeros<unsigned long long>(3), n, rounds};
            job_.world().barrier();
            pass_news(team_, how, scope, parts, errors_);
            EXPECT_EQ(context_.g(errors_, job_.my_pe()), 0) << "how: " << static_cast<int>(how);
            job_.world().barrier();
            job_.free(parts.words);
            job_.free(parts.data);
        }
}

/// ATOLL_TEST_LITMUS_ROUNDS sets the number of rounds: millions in a long run.
TEST_F(WordKernels, MessagesNeverOvertakeTheirData) {
    if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU would take turns at every message";
    const char* wished = std::getenv("ATOLL_TEST_LITMUS_ROUNDS");
    const auto rounds = wished ? std::strtoull(wished, nullptr, 10) : 20000ull;
    for (const Passing how : {Passing::put_signal, Passing::mailbox, Passing::barrier})
        for (const Together scope : {Together::warp, Together::block}) {
            const int n = scope == Together::warp ? 3 : 128;
            Litmus l{zeros<std::uint64_t>(static_cast<std::size_t>(n)), zeros<std::uint64_t>(2), nullptr, n,
                     rounds};
            l.box = zeros<char>(device::mailbox_bytes(job_.n_pes(), 8ull * static_cast<unsigned>(n)));
            job_.world().barrier();
            pass_messages(team_, how, scope, l, errors_);
            EXPECT_EQ(context_.g(errors_, job_.my_pe()), 0) << "passing " << static_cast<int>(how);
            job_.world().barrier();
            job_.free(l.box);
            job_.free(l.signal);
            job_.free(l.data);
        }
}

}  // namespace
}  // namespace atl::testing
