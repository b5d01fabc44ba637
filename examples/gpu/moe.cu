// A mixture of experts' two exchanges in one kernel. Every PE is an expert; each token goes to the PE that it
// chose, is processed there, and returns. No host knows the numbers of tokens. A sender reserves room in the
// target's buffer by an atomic addition and puts its tokens there. Then it adds to the signal that means
// "this sender is done".
#include "example.hpp"

#include <atoll/device/device.hpp>
#include <atoll/device/launch.hpp>

#include <random>

namespace device = atl::device;
using Word = unsigned long long;

constexpr int tokens = 777, width = 256;  // tokens of each PE; floats per token

struct Exchange {
    float* inbox;     ///< [PE * tokens][width]: room for the case that all tokens choose one PE
    int* came_from;   ///< [PE * tokens]: owner and index of that token: pe * tokens + index
    unsigned* taken;  ///< reserved rows of the inbox
    Word *filled,
        *served;    ///< number of senders that have filled the inbox; number of blocks that have sent results
                    ///< here
    float* result;  ///< [tokens][width]
};

__device__ float work(int expert, float x) { return x * float(expert + 2) + 1; }

/// Block b sends the tokens for PE b, a warp per token; then all blocks share the received tokens.
__global__ void exchange(device::Team team, const float* x, const int* choice, Exchange e) {
    __shared__ int list[tokens];
    __shared__ int count;
    const device::Block block;
    const device::Warp warp;
    const int to = blockIdx.x, warps = blockDim.x / 32, my_warp = threadIdx.x / 32;

    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int t = threadIdx.x; t < tokens; t += blockDim.x)
        if (choice[t] == to) list[atomicAdd(&count, 1)] = t;
    __syncthreads();
    unsigned base = 0;
    if (block.rank() == 0) base = device::atomic_fetch_add(team, e.taken, count, to);
    base = block.broadcast(base);
    for (int i = my_warp; i < count; i += warps) {
        device::put_nbi(team, e.inbox + std::size_t(base + i) * width, x + std::size_t(list[i]) * width,
                        width, to, warp);
        if (warp.rank() == 0) device::p(team, e.came_from + base + i, team.my_pe * tokens + list[i], to);
    }
    block.sync();
    if (block.rank() == 0) device::signal_add(team, e.filled, 1, to);  // releases the block's puts

    device::signal_wait_until(team, e.filled, device::Compare::ge, Word(team.n_pes), block);
    const int all = int(*e.taken);
    for (int row = to * warps + my_warp; row < all; row += gridDim.x * warps) {
        float* token = e.inbox + std::size_t(row) * width;
        for (int i = warp.rank(); i < width; i += warp.size()) token[i] = work(team.my_pe, token[i]);
        warp.sync();
        const int back = e.came_from[row];
        device::put_nbi(team, e.result + std::size_t(back % tokens) * width, token, width, back / tokens,
                        warp);
    }
    block.sync();
    for (int pe = block.rank(); pe < team.n_pes; pe += block.size())
        device::signal_add(team, e.served, 1, pe);
    device::signal_wait_until(team, e.served, device::Compare::ge, Word(team.n_pes) * gridDim.x, block);
}

int main() {
    return run([](atoll::Job& job) {
        const int n = job.n_pes(), me = job.my_pe();
        std::mt19937 random(11 + me);
        std::vector<float> x(std::size_t(tokens) * width);
        std::vector<int> choice(tokens);
        for (float& value : x) value = float(random() % 1000) / 8;
        for (int& pe : choice) pe = int((random() % 4 ? random() : 0u) % n);  // PE 0 is chosen more often

        auto* my_x = zeros<float>(job, x.size());
        auto* my_choice = zeros<int>(job, choice.size());
        const Exchange e{zeros<float>(job, std::size_t(n) * tokens * width),
                         zeros<int>(job, std::size_t(n) * tokens),
                         zeros<unsigned>(job, 1),
                         zeros<Word>(job, 1),
                         zeros<Word>(job, 1),
                         zeros<float>(job, x.size())};
        upload(my_x, x);
        upload(my_choice, choice);
        job.world().barrier();
        check(device::cooperative_launch(exchange, dim3(n), dim3(256), 0, nullptr,
                                         job.world().device(atoll::Memory::device), my_x, my_choice, e));
        const std::vector<float> got = download(e.result, x.size());

        bool right = true;
        for (std::size_t i = 0; i < x.size(); ++i)
            right = right && got[i] == x[i] * float(choice[i / width] + 2) + 1;
        return right;
    });
}
