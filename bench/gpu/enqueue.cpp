// Measures the host's cost of a call on a stream. A put of 8 bytes, a signal, and an all-reduce of 8 bytes
// are enqueued without a wait. bench/gpu/enqueue.py is the same from Python. PE 0 prints a line of JSON an
// operation.
#include "atoll/atoll.hpp"
#include "atoll/stream.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

constexpr int calls = 200;  // the driver's queue holds some 1,000
constexpr int batches = 41;
constexpr double warm_up_s = 0.5;

template <class Call> void measure(const char* op, cudaStream_t stream, Call&& call) {
    std::vector<double> each;
    const auto begin = std::chrono::steady_clock::now();
    for (int batch = 0; batch < batches; ++batch) {
        // Runs until the clocks are at full speed, equally long on all PEs.
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin;
        std::vector<int> cold{batch == 0 && since.count() < warm_up_s ? 1 : 0};
        if (batch == 0) {
            atoll::max_reduce(cold, std::vector<int>(cold));
            if (cold[0] != 0) {
                for (int i = 0; i < calls; ++i) call();
                cudaStreamSynchronize(stream);
                --batch;
                continue;
            }
        }
        cudaStreamSynchronize(stream);
        atoll::barrier_all();
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) call();
        const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
        each.push_back(took.count() / calls);
    }
    cudaStreamSynchronize(stream);
    atoll::barrier_all();
    std::sort(each.begin(), each.end());
    if (atoll::my_pe() == 0)
        std::printf(
            R"({"side": "atoll C++", "op": "%s", "bytes": 8, "median_us": %.3f, "p10_us": %.3f, "p90_us": %.3f})"
            "\n",
            op, each[batches / 2], each[batches / 10], each[batches * 9 / 10]);
}

}  // namespace

int main() {
    atl::Job& job = atoll::init();
    auto* x = static_cast<float*>(job.calloc(64, sizeof(float), atoll::Memory::device));
    auto* y = static_cast<float*>(job.calloc(64, sizeof(float), atoll::Memory::device));
    auto* words = static_cast<std::uint64_t*>(job.calloc(1, 8, atoll::Memory::device));
    cudaSetDevice(job.device_heap_use().number);
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const int right = (job.my_pe() + 1) % job.n_pes();
    const atl::StreamContext on(job.context(), {stream});
    const atl::StreamTeam team(job.world(), {stream});
    measure("put", stream, [&] { on.put(y, x, 2, right); });
    measure("signal_add", stream, [&] { on.signal_add(words, 1, right); });
    measure("put_signal", stream, [&] { on.put_signal(y, x, 2, words, 1, atl::SignalOp::add, right); });
    measure("sum_reduce", stream, [&] { team.sum_reduce(std::span(y, 2), std::span<const float>(x, 2)); });
    atoll::finalize();
}
