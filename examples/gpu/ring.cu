// A token goes round the GPUs, from kernel to kernel. Each PE waits for it, adds to it and passes it on,
// without help of any host.
#include "example.hpp"

#include <atoll/device/device.hpp>

namespace device = atl::device;
using Word = unsigned long long;

__global__ void pass(device::Team team, Word* token, Word* signal, int laps) {
    const int right = (team.my_pe + 1) % team.n_pes;
    Word mine = 0;
    for (int lap = 1; lap <= laps; ++lap) {
        if (team.my_pe != 0 || lap > 1) {
            const Word number = team.my_pe == 0 ? lap - 1 : lap;
            device::signal_wait_until(team, signal, device::Compare::ge, number);
            mine = *token;
        }
        mine += team.my_pe + 1;
        device::put_signal(team, token, &mine, 1, signal, Word(lap), right);
    }
    if (team.my_pe == 0) device::signal_wait_until(team, signal, device::Compare::ge, Word(laps));
}

int main() {
    return run([](atoll::Job& job) {
        const int laps = 100, n = job.n_pes();
        auto* token = zeros<Word>(job, 1);
        auto* signal = zeros<Word>(job, 1);
        job.world().barrier();
        pass<<<1, 1>>>(job.world().device(atoll::Memory::device), token, signal, laps);
        check(cudaDeviceSynchronize());
        const Word expected = Word(laps) * n * (n + 1) / 2;
        return job.my_pe() != 0 || download(token, 1)[0] == expected;
    });
}
