#include "gpu/host_words.hpp"

#include "atoll/device/device.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

using device::Compare;
using device::Team;

__global__ void follow_kernel(Team team, HostWords w) {
    const device::Block block;
    for (int round = 1; round <= w.rounds; ++round) {
        device::signal_wait_until(team, w.signal, Compare::ge, static_cast<std::uint64_t>(round), block);
        for (int i = static_cast<int>(block.rank()); i < w.n; i += static_cast<int>(block.size()))
            if (w.data[i] != w.expected + round) atomicAdd(w.wrong, 1ull);
        block.sync();
        if (block.rank() == 0) device::signal_set(team, w.answer, static_cast<std::uint64_t>(round), w.to);
    }
}

__global__ void wait_kernel(Team team, const std::int32_t* words, unsigned long long* wrong) {
    *wrong += device::wait_until_any(team, words, 2, nullptr, Compare::eq, 5) != 1;
    *wrong += device::test(team, words + 1, Compare::ne, 5);
    device::wait_until(team, words, Compare::gt, 6);
    *wrong += !device::test_all(team, words, 2, nullptr, Compare::ge, 5);
}

__global__ void store_kernel(std::uint64_t* word, std::uint64_t value) { device::store_release(word, value); }

void check_launch() {
    if (const cudaError_t result = cudaGetLastError(); result != cudaSuccess)
        throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void follow_host(const device::Team& team, const HostWords& words, cudaStream_t stream) {
    follow_kernel<<<1, 128, 0, stream>>>(team, words);
    check_launch();
}

void wait_for_words(const device::Team& team, const std::int32_t* words, unsigned long long* wrong,
                    cudaStream_t stream) {
    wait_kernel<<<1, 1, 0, stream>>>(team, words, wrong);
    check_launch();
}

void store_for_host(std::uint64_t* word, std::uint64_t value, cudaStream_t stream) {
    store_kernel<<<1, 1, 0, stream>>>(word, value);
    check_launch();
}

}  // namespace atl::testing
