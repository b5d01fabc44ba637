// Inside one kernel a PE, two PEs: a flag one way, and put_signal one way, against bare stores and loads
// between the same addresses in the same run. PE 0 prints; one line of JSON a row.
#include "atoll/atoll.hpp"
#include "atoll/device/device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

namespace device = atl::device;
using device::Team;
using Word = unsigned long long;

constexpr int batches = 15;
constexpr std::size_t most = 1 << 20;

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

__global__ void bare_flags(Word* mine, Word* theirs, int first, Word from, int rounds) {
    for (Word i = from; i < from + rounds; ++i) {
        if (first) asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(theirs), "l"(i) : "memory");
        Word seen = 0;
        do asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(mine) : "memory");
        while (seen < i);
        if (!first) asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(theirs), "l"(i) : "memory");
    }
}

__global__ void flags(Team team, Word* flag, Word from, int rounds) {
    const int peer = 1 - team.my_pe;
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) device::p(team, flag, i, peer);
        device::signal_wait_until(team, flag, device::Compare::ge, i);
        if (team.my_pe == 1) device::p(team, flag, i, peer);
    }
}

__global__ void put_signals(Team team, char* dst, const char* src, std::size_t bytes, Word* flag, Word from,
                            int rounds) {
    const int peer = 1 - team.my_pe;
    const device::Block block;
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) device::put_signal(team, dst, src, bytes, flag, i, peer, block);
        device::signal_wait_until(team, flag, device::Compare::ge, i, block);
        if (team.my_pe == 1) device::put_signal(team, dst, src, bytes, flag, i, peer, block);
    }
}

/// Store, fence by one thread, flag: what put_signal would be by hand.
__global__ void fenced_flags(Team team, char* dst, const char* src, std::size_t bytes, Word* flag, Word from,
                             int rounds) {
    const int peer = 1 - team.my_pe;
    const device::Block block;
    const auto send = [&](Word i) {
        device::put(team, dst, src, bytes, peer, block);
        if (block.rank() == 0) {
            __threadfence_system();
            device::p(team, flag, i, peer);
        }
    };
    for (Word i = from; i < from + rounds; ++i) {
        if (team.my_pe == 0) send(i);
        device::signal_wait_until(team, flag, device::Compare::ge, i, block);
        if (team.my_pe == 1) send(i);
    }
}

__global__ void puts(Team team, char* dst, const char* src, std::size_t bytes) {
    const std::size_t part = bytes / gridDim.x;
    device::put(team, dst + blockIdx.x * part, src + blockIdx.x * part, part, 1 - team.my_pe,
                device::Block{});
}

__global__ void gets(Team team, char* dst, const char* src, std::size_t bytes) {
    const std::size_t part = bytes / gridDim.x;
    device::get(team, dst + blockIdx.x * part, src + blockIdx.x * part, part, 1 - team.my_pe,
                device::Block{});
}

class Timer {
  public:
    Timer() {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    template <class Launch> double us(Launch&& launch) {
        check(cudaEventRecord(begin_, stream_));
        launch(stream_);
        check(cudaGetLastError());
        check(cudaEventRecord(end_, stream_));
        check(cudaStreamSynchronize(stream_));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin_, end_));
        return ms * 1e3;
    }

  private:
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void report(const char* side, const char* operation, std::size_t bytes, std::vector<double> us) {
    std::sort(us.begin(), us.end());
    const double median = us[us.size() / 2];
    std::printf(
        "{\"side\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": 2, \"median_us\": %.4f, \"p10_us\": "
        "%.4f, "
        "\"p90_us\": %.4f, \"gb_per_s\": %.2f}\n",
        side, operation, bytes, median, us[us.size() / 10], us[us.size() - 1 - us.size() / 10],
        static_cast<double>(bytes) / median * 1e-3);
    std::fflush(stdout);
}

struct Bench {
    atl::Job& job;
    Team team;
    char* block;
    Timer timer;
    Word epoch = 1;

    char* target() const { return block + most; }
    Word* flag() const { return reinterpret_cast<Word*>(block); }

    /// Both PEs run `rounds` of a ping-pong; one way is half of a round.
    template <class Launch>
    void one_way(const char* side, const char* operation, std::size_t bytes, Launch launch) {
        std::vector<double> us;
        constexpr int rounds = 2000;
        for (int i = 0; i < batches + 2; ++i) {
            job.world().barrier();
            const double total = timer.us([&](cudaStream_t stream) { launch(stream, epoch, rounds); });
            epoch += rounds;
            if (i >= 2) us.push_back(total / rounds / 2);  // the first ones warm the clock
        }
        if (job.my_pe() == 0) report(side, operation, bytes, us);
    }
    template <class Launch> void bandwidth(const char* operation, std::size_t bytes, Launch launch) {
        std::vector<double> us;
        job.world().barrier();
        if (job.my_pe() == 0) {
            for (int i = 0; i < batches + 2; ++i) {
                const double total = timer.us(launch);
                if (i >= 2) us.push_back(total);
            }
            report("atoll", operation, bytes, us);
        }
        job.world().barrier();
    }
};

void measure(Bench& b) {
    const atl::Context& context = b.job.context();
    const int peer = 1 - b.team.my_pe, first = b.team.my_pe == 0;
    Word* theirs = context.ptr(b.flag(), peer);
    b.one_way("bare", "flag one way", 8, [&](cudaStream_t s, Word from, int rounds) {
        bare_flags<<<1, 1, 0, s>>>(b.flag(), theirs, first, from, rounds);
    });
    b.one_way("atoll", "flag one way (p, signal_wait_until)", 8, [&](cudaStream_t s, Word from, int rounds) {
        flags<<<1, 1, 0, s>>>(b.team, b.flag(), from, rounds);
    });
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1024}, std::size_t{16384}}) {
        const unsigned threads = bytes < 1024 ? 32 : bytes == 1024 ? 64 : 1024;
        b.one_way("bare", "store, fence, flag, block", bytes, [&](cudaStream_t s, Word from, int rounds) {
            fenced_flags<<<1, threads, 0, s>>>(b.team, b.target(), b.target() + most, bytes, b.flag(), from,
                                               rounds);
        });
        b.one_way("atoll", "put_signal, block", bytes, [&](cudaStream_t s, Word from, int rounds) {
            put_signals<<<1, threads, 0, s>>>(b.team, b.target(), b.target() + most, bytes, b.flag(), from,
                                              rounds);
        });
    }
    constexpr std::size_t large = std::size_t{64} << 20;
    for (const unsigned blocks : {8u, 16u, 32u}) {
        const std::string put = "put in a kernel, " + std::to_string(blocks) + " blocks";
        const std::string get = "get in a kernel, " + std::to_string(blocks) + " blocks";
        b.bandwidth(put.c_str(), large, [&](cudaStream_t s) {
            puts<<<blocks, 1024, 0, s>>>(b.team, b.target(), b.target() + large, large);
        });
        b.bandwidth(get.c_str(), large, [&](cudaStream_t s) {
            gets<<<blocks, 1024, 0, s>>>(b.team, b.target() + large, b.target(), large);
        });
    }
}

}  // namespace

int main() {
    atl::Job& job = atl::init();
    if (job.n_pes() != 2) {
        std::fprintf(stderr, "two PEs, please\n");
        return 1;
    }
    auto* block = static_cast<char*>(job.calloc(1, most + (std::size_t{130} << 20), atl::Memory::device));
    check(cudaSetDevice(job.device_heap_use().number));
    Bench b{job, job.world().device(atl::Memory::device), block, {}};
    measure(b);
    job.free(block);
    atl::finalize();
}
