// Put, get, elements and signals within kernels, through a team passed by value.
#include "gpu/kernels.hpp"
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

#include <algorithm>

namespace atl::testing {
namespace {

class DeviceKernels : public OnDevice {
  protected:
    void SetUp() override {
        OnDevice::SetUp();
        if (IsSkipped()) return;
        team_ = job_.world().device(Memory::device);
    }
    device::Team team_{};
};

TEST_F(DeviceKernels, ElementsGoToEveryPeAndBack) {
    const auto n = static_cast<std::size_t>(job_.n_pes());
    auto* x = zeros<double>(n);
    auto* sum = zeros<double>(1);
    job_.world().barrier();
    store_to_all(team_, x);
    job_.world().barrier();
    double expected = 0;
    for (int pe = 0; pe < job_.n_pes(); ++pe)
        for (int i = 0; i < job_.n_pes(); ++i) {
            EXPECT_EQ(context_.g(x + i, pe), 100.0 * i + pe);
            expected += 100.0 * i + pe;
        }
    load_from_all(team_, x, sum);
    EXPECT_EQ(context_.g(sum, job_.my_pe()), expected);
    job_.world().barrier();
    job_.free(sum);
    job_.free(x);
}

TEST_F(DeviceKernels, PutsAndGetsOfEveryScope) {
    constexpr std::size_t most = (1 << 20) + 64;
    auto* target = zeros<unsigned char>(most);
    auto* local = zeros<unsigned char>(most);
    int round = 0;
    for (const Together scope : {Together::thread, Together::warp, Together::block})
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{7}, std::size_t{16}, std::size_t{1000},
                                        std::size_t{65537}, std::size_t{1} << 20})
            for (const std::size_t shift : {0u, 4u, 3u}) {
                if (scope == Together::thread && bytes > 1000) continue;
                ++round;
                write(local, noise(bytes + shift, 50 * round + job_.my_pe()));
                write(target, Bytes(most, 0x11));
                job_.world().barrier();
                put_bytes(team_, target + shift, local + shift, bytes, right_of(job_), scope);
                job_.world().barrier();
                Bytes expected(most, 0x11);
                const Bytes theirs = noise(bytes + shift, 50 * round + left_of(job_));
                std::copy(theirs.begin() + static_cast<std::ptrdiff_t>(shift), theirs.end(),
                          expected.begin() + static_cast<std::ptrdiff_t>(shift));
                EXPECT_TRUE(read(target, most) == expected) << bytes << " bytes put, shifted by " << shift;
                write(local, Bytes(most, 0x22));
                get_bytes(team_, local + 2 * shift, target + shift, bytes, right_of(job_), scope);
                const Bytes back = noise(bytes + shift, 50 * round + job_.my_pe());
                Bytes got = read(local + 2 * shift, bytes);
                EXPECT_TRUE(
                    std::equal(got.begin(), got.end(), back.begin() + static_cast<std::ptrdiff_t>(shift)))
                    << bytes << " bytes got, shifted by " << shift;
                job_.world().barrier();
            }
    job_.free(local);
    job_.free(target);
}

TEST_F(DeviceKernels, SignalsBringTheirDataFromGpuToGpu) {
    // Kernels of PEs on one GPU are time-sliced, and one that spins for another would delay it.
    int gpus = 0;
    check_cuda(cudaGetDeviceCount(&gpus));
    if (job_.n_pes() > gpus) return;
    auto* data = zeros<int>(1000);
    auto* signal = zeros<std::uint64_t>(1);
    auto* credit = zeros<std::uint64_t>(1);
    auto* errors = zeros<int>(1);
    job_.world().barrier();
    ring(team_, data, signal, credit, 1000, 20000, errors);
    EXPECT_EQ(context_.g(errors, job_.my_pe()), 0);
    EXPECT_EQ(context_.g(signal, job_.my_pe()), 20000u);
    job_.world().barrier();
    for (void* block : {static_cast<void*>(errors), static_cast<void*>(credit), static_cast<void*>(signal),
                        static_cast<void*>(data)})
        job_.free(block);
}

}  // namespace
}  // namespace atl::testing
