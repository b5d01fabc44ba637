// Kernels' operations on PEs that only a transport reaches. Run it with ATOLL_HOST_ID=a,b and
// UCX_TLS=tcp,self, like scripts/gpu.sh programs. In a job of one host the same calls use the window.
#include "core/job/job_state.hpp"
#include "gpu/far.hpp"
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

namespace atl::testing {
namespace {

class FarKernels : public OnDeviceWithKernels {
  protected:
    void TearDown() override {
        OnDeviceWithKernels::TearDown();
        for (void* block : blocks_) job_.free(block);
    }
    template <class T> T* zeros(std::size_t n) {
        T* block = OnDevice::zeros<T>(n);
        blocks_.insert(blocks_.begin(), block);
        return block;
    }
    bool is_far(int pe) const { return !job_.state().topology().has_window_to(pe); }
    std::vector<void*> blocks_;
};

TEST_F(FarKernels, ThreadsOfManyBlocksAskAtOnce) {
    constexpr int blocks = 8;
    auto* counts = zeros<std::uint64_t>(2);
    auto* x = zeros<int>(blocks * 64);
    job_.world().barrier();
    far_crowd(team_, counts, x, errors_, blocks, right_of(job_));
    job_.world().barrier();
    EXPECT_EQ(context_.g(counts, job_.my_pe()), 2u * blocks * 64);
    EXPECT_EQ(context_.g(counts + 1, job_.my_pe()), 1u * blocks * 64);
    EXPECT_EQ(context_.g(x + 100, job_.my_pe()), 101);
}

TEST_F(FarKernels, SignalsComeAfterTheirData) {
    if (takes_turns(job_)) GTEST_SKIP() << "kernels of PEs that share a GPU take turns";
    for (const int n : {1, 200, 256, 257, 8000}) {
        auto* dst = zeros<int>(8000);
        auto* src = zeros<int>(8000);
        auto* signal = zeros<std::uint64_t>(1);
        job_.world().barrier();
        far_exchange(team_, dst, src, signal, n, 12, 100000 * job_.my_pe(), 100000 * left_of(job_),
                     right_of(job_), errors_);
        job_.world().barrier();
    }
}

TEST_F(FarKernels, FormsOfAllKinds) {
    auto* words = zeros<std::uint64_t>(16);
    auto* x = zeros<int>(1000);
    job_.world().barrier();
    far_forms(team_, words, x, right_of(job_), is_far(right_of(job_)), errors_);
    job_.world().barrier();
}

TEST_F(FarKernels, MembersOfAllHostsMeet) {
    if (takes_turns(job_)) GTEST_SKIP() << "kernels of PEs that share a GPU take turns";
    auto* x = zeros<int>(64);
    job_.world().barrier();
    far_meet(team_, x, 20, errors_);
    job_.world().barrier();
}

}  // namespace
}  // namespace atl::testing
