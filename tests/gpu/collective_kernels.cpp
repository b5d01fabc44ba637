// Collectives within kernels at warp, block and grid scope, against a model; teams of parts of the job.
#include "gpu/collectives.hpp"
#include "gpu/support.hpp"
#include "support/multi_main.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

namespace atl::testing {
namespace {

template <class T> struct Of;
template <> struct Of<unsigned char> { static constexpr Element type = Element::byte; };
template <> struct Of<int> { static constexpr Element type = Element::int32; };
template <> struct Of<double> { static constexpr Element type = Element::float64; };
template <> struct Of<__half> { static constexpr Element type = Element::half; };
template <> struct Of<float> { static constexpr Element type = Element::float32; };
template <> struct Of<__nv_bfloat16> { static constexpr Element type = Element::bfloat16; };
template <> struct Of<signed char> { static constexpr Element type = Element::int8; };
template <> struct Of<short> { static constexpr Element type = Element::int16; };
template <> struct Of<unsigned short> { static constexpr Element type = Element::uint16; };
template <> struct Of<unsigned> { static constexpr Element type = Element::uint32; };
template <> struct Of<long long> { static constexpr Element type = Element::int64; };
template <> struct Of<unsigned long long> { static constexpr Element type = Element::uint64; };

/// Small enough for sums of a few to be exact in every type.
template <class T> T value_of(int pe, std::size_t i) {
    return static_cast<T>(
        static_cast<float>(1 + (static_cast<unsigned>(pe) * 7 + static_cast<unsigned>(i) * 3) % 29));
}

class CollectiveKernels : public OnDevice {
  protected:
    static constexpr std::size_t most = 70000;

    void SetUp() override {
        OnDevice::SetUp();
        if (IsSkipped()) return;
        if (takes_turns(job_)) GTEST_SKIP() << "PEs that share a GPU would take turns at every message";
        const std::size_t bytes = most * sizeof(double) * static_cast<std::size_t>(job_.n_pes());
        src_ = job_.calloc(1, bytes, Memory::device);
        dst_ = job_.calloc(1, bytes, Memory::device);
        result_ = static_cast<std::uint64_t*>(job_.calloc(1, 8, Memory::device));
    }
    void TearDown() override {
        if (!src_) return;
        for (void* block : {static_cast<void*>(result_), dst_, src_}) job_.free(block);
    }

    template <class T, class Expected>
    void expect(const device::Team& team, Collective which, Together scope, std::size_t n,
                std::size_t results, int root, Expected expected) {
        const auto n_pes = static_cast<std::size_t>(team.n_pes);
        std::vector<T> mine(n * n_pes + 1), got(results + 1);
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = value_of<T>(team.my_pe, i);
        check_cuda(cudaMemcpy(src_, mine.data(), mine.size() * sizeof(T), cudaMemcpyDefault));
        check_cuda(cudaMemset(dst_, 0, (results + 1) * sizeof(T)));
        check_cuda(cudaDeviceSynchronize());
        meet_.sync();
        const std::size_t count = which == Collective::collect ? n - std::min<std::size_t>(n, team.my_pe) : n;
        run_collective(team, which, Of<T>::type, scope, dst_, src_, count, root, result_);
        check_cuda(cudaMemcpy(got.data(), dst_, got.size() * sizeof(T), cudaMemcpyDefault));
        for (std::size_t i = 0; i <= results; ++i) {
            const double wanted = i < results ? static_cast<double>(static_cast<float>(expected(i))) : 0;
            ASSERT_EQ(static_cast<double>(static_cast<float>(got[i])), wanted)
                << "collective " << static_cast<int>(which) << " of " << n << " at scope "
                << static_cast<int>(scope) << ", place " << i;
        }
        meet_.sync();
    }

    template <class T> void every_collective(const device::Team& team, Together scope, std::size_t n) {
        const auto n_pes = static_cast<std::size_t>(team.n_pes);
        const auto mine = static_cast<std::size_t>(team.my_pe);
        const auto divided = [&](std::size_t i) { return std::pair(static_cast<int>(i / n), i % n); };
        const int root = team.n_pes - 1;
        expect<T>(team, Collective::broadcast, scope, n, n, root,
                  [&](std::size_t i) { return value_of<T>(root, i); });
        expect<T>(team, Collective::fcollect, scope, n, n * n_pes, 0,
                  [&](std::size_t i) { return value_of<T>(divided(i).first, divided(i).second); });
        expect<T>(team, Collective::alltoall, scope, n, n * n_pes, 0,
                  [&](std::size_t i) { return value_of<T>(divided(i).first, mine * n + divided(i).second); });
        std::vector<T> collected;
        for (std::size_t pe = 0; pe < n_pes; ++pe)
            for (std::size_t i = 0; i + pe < n; ++i)
                collected.push_back(value_of<T>(static_cast<int>(pe), i));
        expect<T>(team, Collective::collect, scope, n, collected.size(), 0,
                  [&](std::size_t i) { return collected[i]; });
        std::uint64_t counted = 0;
        check_cuda(cudaMemcpy(&counted, result_, 8, cudaMemcpyDefault));
        EXPECT_EQ(counted, collected.size());
        const auto sum = [&](std::size_t i) {
            float total = 0;
            for (int pe = 0; pe < team.n_pes; ++pe) total += static_cast<float>(value_of<T>(pe, i));
            return static_cast<T>(total);
        };
        expect<T>(team, Collective::sum, scope, n, n, 0, sum);
        expect<T>(team, Collective::sum_scatter, scope, n, n, 0,
                  [&](std::size_t i) { return sum(mine * n + i); });
        expect<T>(team, Collective::max, scope, n, n, 0, [&](std::size_t i) {
            float largest = 0;
            for (int pe = 0; pe < team.n_pes; ++pe)
                largest = std::max(largest, static_cast<float>(value_of<T>(pe, i)));
            return static_cast<T>(largest);
        });
    }

    Team meet_ = current_job().world();
    void* src_ = nullptr;
    void* dst_ = nullptr;
    std::uint64_t* result_ = nullptr;
};

TEST_F(CollectiveKernels, EveryScopeTypeAndSize) {
    const device::Team team = job_.world().device(Memory::device);
    for (const Together scope : {Together::warp, Together::block, Together::grid})
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{129},
                                    std::size_t{1500}, most - 1}) {
            if (scope == Together::warp && n > 1500) continue;
            every_collective<unsigned char>(team, scope, n);
            every_collective<int>(team, scope, n);
            every_collective<double>(team, scope, n);
            every_collective<__half>(team, scope, n);
#ifdef ATOLL_TEST_ALL_TYPES
            every_collective<float>(team, scope, n);
            every_collective<__nv_bfloat16>(team, scope, n);
            every_collective<signed char>(team, scope, n);
            every_collective<short>(team, scope, n);
            every_collective<unsigned short>(team, scope, n);
            every_collective<unsigned>(team, scope, n);
            every_collective<long long>(team, scope, n);
            every_collective<unsigned long long>(team, scope, n);
#endif
        }
}

TEST_F(CollectiveKernels, TeamsOfParts) {
    for (int round = 0; round < 3; ++round) {
        Team backwards = job_.world().split(0, -job_.my_pe());
        meet_ = backwards;
        every_collective<int>(backwards.device(Memory::device), Together::block, 100);
        Team alone = job_.world().split(job_.my_pe());
        meet_ = alone;
        every_collective<int>(alone.device(Memory::device), Together::grid, 1000);
        meet_ = job_.world();
        alone.destroy();
        backwards.destroy();
    }
}

}  // namespace
}  // namespace atl::testing
