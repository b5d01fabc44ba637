// An all-reduce in user code. Every block puts its part into a slot of every PE, with a signal, waits for the
// others' parts, and adds up in PE order. So all PEs get the same bits. One trip over the link; for arrays
// small enough to be sent n times.
#include "example.hpp"

#include <atoll/device/device.hpp>

namespace device = atl::device;
using Word = unsigned long long;

constexpr int blocks = 8, threads = 256;

struct Slots {
    float* data;    ///< [call % 2][PE][n]
    Word* signals;  ///< [block][PE]: the number of the last call whose part has arrived here
    int n;
};

/// Two sets of slots: a PE sends for call c + 2 only after all have sent for c + 1, so they have finished c.
__global__ void sum(device::Team team, float* dst, const float* src, Slots slots, Word call) {
    const device::Block block;
    const int part = (slots.n + gridDim.x - 1) / gridDim.x, begin = min(slots.n, int(blockIdx.x) * part);
    const int count = min(part, slots.n - begin);
    float* set = slots.data + (call % 2) * team.n_pes * slots.n + begin;
    Word* signals = slots.signals + blockIdx.x * team.n_pes;
    for (int k = 0; k < team.n_pes; ++k)
        device::put_signal(team, set + team.my_pe * slots.n, src + begin, count, signals + team.my_pe, call,
                           (team.my_pe + k) % team.n_pes, block);
    device::wait_until_all(team, signals, team.n_pes, nullptr, device::Compare::ge, call, block);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float total = set[i];
        for (int pe = 1; pe < team.n_pes; ++pe) total += set[pe * slots.n + i];
        dst[begin + i] = total;
    }
}

int main() {
    return run([](atoll::Job& job) {
        const int n = 10007, calls = 20;
        auto* src = zeros<float>(job, n);
        auto* dst = zeros<float>(job, n);
        const Slots slots{zeros<float>(job, std::size_t(2) * job.n_pes() * n),
                          zeros<Word>(job, std::size_t(blocks) * job.n_pes()), n};
        const device::Team team = job.world().device(atoll::Memory::device);
        const auto value = [](int pe, int call, int i) {
            return 0.1f * float((pe * 31 + call * 7 + i) % 97);
        };
        bool right = true;
        for (int call = 1; call <= calls; ++call) {
            std::vector<float> mine(n);
            for (int i = 0; i < n; ++i) mine[i] = value(job.my_pe(), call, i);
            upload(src, mine);
            sum<<<blocks, threads>>>(team, dst, src, slots, call);
            const std::vector<float> got = download(dst, n);
            for (int i = 0; i < n; ++i) {
                float expected = value(0, call, i);
                for (int pe = 1; pe < job.n_pes(); ++pe) expected += value(pe, call, i);
                right = right && got[i] == expected;
            }
        }
        return right;
    });
}
