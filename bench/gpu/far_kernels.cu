// Operations of kernels on the device heap of a PE that only a transport reaches. Two PEs simulate two hosts
// (ATOLL_HOST_ID=a,b). One thread makes the requests, unless a row states otherwise. PE 0 prints one line of
// JSON a row.
#include "harness.cuh"

#include "atoll/device/device.hpp"

namespace {

namespace device = atl::device;
using bench::Bench;
using bench::Word;
using device::Team;

enum class What { p, p_and_quiet, g, fetch_add, add, put, put_and_quiet, get };

__global__ void repeat(Team team, What what, Word* there, Word* here, unsigned long long bytes, int times) {
    auto* to = reinterpret_cast<char*>(there);
    auto* from = reinterpret_cast<char*>(here);
    for (int i = 0; i < times; ++i) {
        if (what == What::p || what == What::p_and_quiet) device::p(team, there, Word(i), 1);
        if (what == What::g) here[0] = device::g(team, there, 1);
        if (what == What::fetch_add) here[0] = device::atomic_fetch_add(team, there, 1, 1);
        if (what == What::add) device::atomic_add(team, there, 1, 1);
        if (what == What::put || what == What::put_and_quiet) device::put(team, to, from, bytes, 1);
        if (what == What::get) device::get(team, from, to, bytes, 1);
        if (what == What::p_and_quiet || what == What::put_and_quiet) device::quiet(team);
    }
    device::quiet(team);
}

__global__ void ping_pong(Team team, char* dst, const char* src, unsigned long long bytes, Word* flag,
                          Word from, int rounds) {
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) device::put_signal(team, dst, src, bytes, flag, i, 1);
        device::signal_wait_until(team, flag, device::Compare::ge, i);
        if (team.my_pe == 1) device::put_signal(team, dst, src, bytes, flag, i, 0);
    }
}

/// PE 0 makes requests; PE 1's GPU is idle.
void measure(Bench& b, const char* operation, What what, unsigned long long bytes, int threads = 1) {
    constexpr int times = 50;
    std::vector<double> us;
    for (int i = 0; i < bench::batches + 1; ++i) {
        const double total = b.timer.us([&](cudaStream_t stream) {
            repeat<<<1, static_cast<unsigned>(threads), 0, stream>>>(
                b.team, what, reinterpret_cast<Word*>(b.target()), b.flag() + 8, bytes, times);
        });
        if (i > 0) us.push_back(total / times);
    }
    bench::report("atoll", operation, bytes, b.job.n_pes(), us);
}

}  // namespace

int main() {
    atl::Job& job = atl::init();
    constexpr std::size_t bytes = 3 * bench::most;
    auto* block = static_cast<char*>(job.calloc(bytes, 1, atl::Memory::device));
    bench::check(cudaSetDevice(job.device_heap_use().number));
    {
        Bench b{job, job.world().device(atl::Memory::device), block, {}};
        job.world().barrier();
        if (job.my_pe() == 0) {
            measure(b, "far kernel: p, one after the other", What::p, 8);
            measure(b, "far kernel: p and quiet", What::p_and_quiet, 8);
            measure(b, "far kernel: p by 32 threads, for each 32", What::p, 8, 32);
            measure(b, "far kernel: g", What::g, 8);
            measure(b, "far kernel: fetch_add", What::fetch_add, 8);
            measure(b, "far kernel: add, one after the other", What::add, 8);
            for (const unsigned long long n : {1024ull, 65536ull, 1ull << 20}) {
                measure(b, "far kernel: put, one after the other", What::put, n);
                measure(b, "far kernel: put and quiet", What::put_and_quiet, n);
                measure(b, "far kernel: get", What::get, n);
            }
        }
        job.world().barrier();
        for (const unsigned long long n : {8ull, 1024ull, 65536ull, 1ull << 20})
            b.one_way(
                "atoll", "far kernel: put_signal one way", n,
                [&](cudaStream_t stream, Word from, int rounds) {
                    ping_pong<<<1, 1, 0, stream>>>(b.team, b.target(), b.target() + bench::most, n, b.flag(),
                                                   from, rounds);
                },
                n <= 1024 ? 200 : 20);
        job.world().barrier();
    }
    job.free(block);
    atl::finalize();
}
