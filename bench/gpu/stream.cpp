// Stream-ordered put, barrier and all-reduce (float sum), launched directly and in CUDA graphs. The same run
// measures NCCL (dlopen of libnccl.so.2, or of LIBNCCL) and cudaMemcpyAsync. Times are for one operation, by
// events around a batch on the slowest PE; medians over batches. PE 0 prints one line of JSON a row.
#include "atoll/stream.hpp"
#include "atoll/atoll.hpp"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::size_t most = std::size_t{256} << 20;
constexpr int batches = 11;

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

/// The functions of NCCL that are used; its header is not needed.
class Nccl {
  public:
    struct Id {
        char bytes[128];
    };
    explicit Nccl(atl::Job& job) {
        const char* named = std::getenv("LIBNCCL");
        int gpus = 0;
        check(cudaGetDeviceCount(&gpus));
        // NCCL takes one rank for each GPU.
        if (gpus >= job.n_pes()) library_ = ::dlopen(named ? named : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
        std::vector<int> found{library_ ? 1 : 0}, all{0};
        job.world().min_reduce(all, found);
        if (all[0] == 0) return;
        const auto get_id = function<int (*)(Id*)>("ncclGetUniqueId");
        const auto start = function<int (*)(void**, int, Id, int)>("ncclCommInitRank");
        reduce_ = function<Reduce>("ncclAllReduce");
        std::vector<Id> id(1);
        if (job.my_pe() == 0) succeed(get_id(id.data()));
        std::vector<Id> same(1);
        job.world().broadcast(same, id, 0);
        succeed(start(&communicator_, job.n_pes(), same[0], job.my_pe()));
    }
    explicit operator bool() const { return communicator_ != nullptr; }
    void sum(const float* src, float* dst, std::size_t count, cudaStream_t stream) const {
        succeed(reduce_(src, dst, count, 7, 0, communicator_, stream));
    }

  private:
    using Reduce = int (*)(const void*, void*, std::size_t, int type, int op, void* communicator,
                           cudaStream_t);
    template <class F> F function(const char* name) const {
        return reinterpret_cast<F>(::dlsym(library_, name));
    }
    static void succeed(int result) {
        if (result != 0) throw std::runtime_error("NCCL: error " + std::to_string(result));
    }
    void* library_ = nullptr;
    void* communicator_ = nullptr;
    Reduce reduce_ = nullptr;
};

class Bench {
  public:
    explicit Bench(atl::Job& job) : job_(job) {
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    cudaStream_t stream() const { return stream_; }

    /// `alone`: only PE 0 makes the call.
    void row(const char* side, const std::string& operation, std::size_t bytes,
             const std::function<void()>& call, bool alone = false) {
        const int repeats = bytes >= (16u << 20) ? 5 : 40;
        const bool takes_part = !alone || job_.my_pe() == 0;
        const double eager = median([&] {
                                 for (int i = 0; i < repeats && takes_part; ++i) call();
                             }) /
                             repeats;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t instance = nullptr;
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < repeats && takes_part; ++i) call();
        check(cudaStreamEndCapture(stream_, &graph));
        check(cudaGraphInstantiate(&instance, graph, 0));
        const double replayed = median([&] { check(cudaGraphLaunch(instance, stream_)); }) / repeats;
        check(cudaGraphExecDestroy(instance));
        check(cudaGraphDestroy(graph));
        print(side, operation + ", eager", bytes, eager);
        print(side, operation + ", graph", bytes, replayed);
    }

  private:
    double median(const std::function<void()>& batch) {
        std::vector<double> us;
        for (int i = 0; i < batches + 2; ++i) {
            check(cudaStreamSynchronize(stream_));
            job_.world().barrier();
            check(cudaEventRecord(begin_, stream_));
            batch();
            check(cudaEventRecord(end_, stream_));
            check(cudaStreamSynchronize(stream_));
            float ms = 0;
            check(cudaEventElapsedTime(&ms, begin_, end_));
            std::vector<double> mine{ms * 1e3}, slowest{0};
            job_.world().max_reduce(slowest, mine);
            if (i >= 2) us.push_back(slowest[0]);
        }
        std::sort(us.begin(), us.end());
        return us[batches / 2];
    }
    void print(const char* side, const std::string& operation, std::size_t bytes, double us) const {
        if (job_.my_pe() != 0) return;
        std::printf(
            "{\"side\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": %d, \"median_us\": %.3f, "
            "\"gb_per_s\": %.2f}\n",
            side, operation.c_str(), bytes, job_.n_pes(), us, static_cast<double>(bytes) / us * 1e-3);
        std::fflush(stdout);
    }
    atl::Job& job_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void measure_puts(atl::Job& job, Bench& bench, char* target, char* source) {
    const atl::StreamContext stream(job.context(), {bench.stream()});
    const int peer = job.n_pes() - 1;
    void* slot = job.context().ptr(target, peer);
    for (const std::size_t bytes :
         {std::size_t{8}, std::size_t{4096}, std::size_t{16384}, std::size_t{65536}, std::size_t{262144},
          std::size_t{1} << 20, std::size_t{4} << 20, std::size_t{16} << 20, most}) {
        bench.row(
            "atoll", "put on a stream", bytes, [&] { stream.put(target, source, bytes, peer); }, true);
        bench.row(
            "cuda", "cudaMemcpyAsync to the slot", bytes,
            [&] { check(cudaMemcpyAsync(slot, source, bytes, cudaMemcpyDefault, bench.stream())); }, true);
        // Blocks of half the size: the same bytes, by a kernel.
        bench.row(
            "atoll", "ibput of two halves on a stream", bytes,
            [&] {
                const auto half = static_cast<std::ptrdiff_t>(bytes / 2);
                stream.ibput(target, source, half, half, bytes / 2, 2, peer);
            },
            true);
    }
}

/// One call, and the two kernels of which it consists for larger messages.
void measure_signals(atl::Job& job, Bench& bench, char* target, char* source, std::uint64_t* signal) {
    const atl::StreamContext stream(job.context(), {bench.stream()});
    const int peer = job.n_pes() - 1;
    for (std::size_t bytes = 1024; bytes <= (std::size_t{1} << 20); bytes *= 2) {
        bench.row(
            "atoll", "put_signal on a stream", bytes,
            [&] { stream.put_signal(target, source, bytes, signal, 1, atl::SignalOp::add, peer); }, true);
        bench.row(
            "atoll", "put, then signal_add", bytes,
            [&] {
                stream.put(target, source, bytes, peer);
                stream.signal_add(signal, 1, peer);
            },
            true);
    }
}

/// Every PE sends to the next one.
void measure_messages(atl::Job& job, Bench& bench, char* target, char* source) {
    const int n = job.n_pes(), me = job.my_pe();
    atl::StreamMessageGroup group(job.world(), {bench.stream()});
    for (std::size_t bytes = 8; bytes <= most; bytes = bytes == 8 ? 4096 : bytes * 16)
        bench.row("atoll", "send and recv in a group", bytes, [&] {
            group.send_bytes(source, bytes, (me + 1) % n);
            group.recv_bytes(target, bytes, (me + n - 1) % n);
            group.run();
        });
}

}  // namespace

int main() {
    atl::Job& job = atl::init();
    auto* dst = static_cast<char*>(job.malloc(most, atl::Memory::device));
    auto* src = static_cast<char*>(job.malloc(most, atl::Memory::device));
    check(cudaSetDevice(job.device_heap_use().number));
    check(cudaMemset(src, 0, most));
    check(cudaDeviceSynchronize());
    Bench bench(job);
    const atl::StreamTeam team(job.world(), {bench.stream()});
    const Nccl nccl(job);
    for (int i = 0; i < 3000; ++i)
        team.sum_reduce(std::span(dst, 1 << 20), std::span<const char>(src, 1 << 20));
    bench.row("atoll", "barrier on a stream", 0, [&] { team.barrier(); });
    for (std::size_t bytes = 8; bytes <= most; bytes = bytes == 8 ? 1024 : bytes * 4) {
        auto* to = reinterpret_cast<float*>(dst);
        const auto* from = reinterpret_cast<const float*>(src);
        const std::size_t count = bytes / sizeof(float);
        bench.row("atoll", "all-reduce of float", bytes,
                  [&] { team.sum_reduce(std::span(to, count), std::span(from, count)); });
        if (nccl)
            bench.row("nccl", "all-reduce of float", bytes,
                      [&] { nccl.sum(from, to, count, bench.stream()); });
    }
    measure_messages(job, bench, dst, src);
    auto* signal = static_cast<std::uint64_t*>(job.calloc(1, sizeof(std::uint64_t), atl::Memory::device));
    if (job.n_pes() > 1) {
        measure_signals(job, bench, dst, src, signal);
        measure_puts(job, bench, dst, src);
    }
    job.world().barrier();
    atl::finalize();
}
