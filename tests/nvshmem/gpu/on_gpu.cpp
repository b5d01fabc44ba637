// NVSHMEM's host functions on GPU memory, as its programs use them: symmetric memory, calls on a stream, host
// calls.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int me, n;

#define REQUIRE(condition)                                                                   \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            std::fprintf(stderr, "PE %d, line %d: %s is wrong\n", me, __LINE__, #condition); \
            nvshmem_global_exit(1);                                                          \
        }                                                                                    \
    } while (0)

template <class T> std::vector<T> read(const T* device, std::size_t count) {
    std::vector<T> values(count);
    REQUIRE(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess);
    return values;
}
template <class T> void write(T* device, const std::vector<T>& values) {
    REQUIRE(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) ==
            cudaSuccess);
}

void check_moves(cudaStream_t stream) {
    const int right = (me + 1) % n, left = (me + n - 1) % n;
    auto* a = static_cast<int*>(nvshmem_calloc(8, sizeof(int)));
    auto* b = static_cast<int*>(nvshmem_calloc(8, sizeof(int)));
    auto* signal = static_cast<std::uint64_t*>(nvshmem_calloc(1, sizeof(std::uint64_t)));
    cudaPointerAttributes attributes{};
    REQUIRE(cudaPointerGetAttributes(&attributes, a) == cudaSuccess);
    REQUIRE(attributes.type == cudaMemoryTypeDevice);
    write(a, std::vector<int>(8, me + 1));
    nvshmem_barrier_all();

    nvshmemx_int_put_on_stream(b, a, 4, right, stream);
    nvshmemx_barrier_all_on_stream(stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    REQUIRE(read(b, 8) == (std::vector<int>{left + 1, left + 1, left + 1, left + 1, 0, 0, 0, 0}));
    nvshmem_barrier_all();

    nvshmemx_int_get_on_stream(b + 4, a, 4, right, stream);
    nvshmemx_quiet_on_stream(stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    REQUIRE(read(b, 8)[7] == right + 1);
    nvshmem_barrier_all();  // the next put overwrites what was read

    nvshmemx_int_put_signal_on_stream(b, a, 8, signal, 7, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_signal_wait_until_on_stream(signal, NVSHMEM_CMP_EQ, 7, stream);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    REQUIRE(read(b, 8)[7] == left + 1 && read(signal, 1)[0] == 7);
    nvshmem_barrier_all();

    nvshmem_int_p(b, 100 + me, right);
    nvshmem_barrier_all();
    REQUIRE(nvshmem_int_g(b, right) == 100 + me && read(b, 1)[0] == 100 + left);
    REQUIRE(nvshmemx_int_g_on_stream(b, right, stream) == 100 + me);
    nvshmem_int_put(b, a, 8, left);
    nvshmem_barrier_all();
    REQUIRE(read(b, 8)[5] == right + 1);
    nvshmem_int_atomic_add(b, me + 1, 0);
    nvshmem_barrier_all();
    REQUIRE(nvshmem_int_g(b, 0) == 1 % n + 1 + n * (n + 1) / 2);
    nvshmem_barrier_all();
    nvshmem_free(a);
    nvshmem_free(b);
    nvshmem_free(signal);
}

void check_collectives(cudaStream_t stream) {
    auto* a = static_cast<float*>(nvshmem_malloc(64 * sizeof(float)));
    auto* b = static_cast<float*>(nvshmem_malloc(64 * sizeof(float)));
    auto* halves = static_cast<__half*>(nvshmem_calloc(8, sizeof(__half)));
    const nvshmem_team_t team = NVSHMEM_TEAM_WORLD;
    write(a, std::vector<float>(64, static_cast<float>(me + 1)));
    const auto sum = static_cast<float>(n * (n + 1) / 2);
    REQUIRE(nvshmemx_float_sum_reduce_on_stream(team, b, a, 8, stream) == 0);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess && read(b, 8)[7] == sum);
    REQUIRE(nvshmemx_float_sum_reducescatter_on_stream(team, b, a, 2, stream) == 0);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess && read(b, 2)[1] == sum);
    REQUIRE(nvshmemx_float_fcollect_on_stream(team, b, a, 2, stream) == 0);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    for (int pe = 0; pe < n; ++pe)
        REQUIRE(read(b, 64)[static_cast<std::size_t>(2 * pe)] == static_cast<float>(pe + 1));
    REQUIRE(nvshmemx_float_broadcast_on_stream(team, b, a, 4, n - 1, stream) == 0);
    REQUIRE(nvshmemx_float_alltoall_on_stream(team, b + 8, a, 2, stream) == 0);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
    REQUIRE(read(b, 4)[3] == static_cast<float>(n) && read(b, 10)[8] == 1.0f);
    REQUIRE(nvshmem_float_max_reduce(team, b, a, 4) == 0 && read(b, 4)[0] == static_cast<float>(n));
    write(halves, std::vector<__half>(4, __float2half(static_cast<float>(me + 1))));
    REQUIRE(nvshmemx_half_sum_reduce_on_stream(team, halves + 4, halves, 4, stream) == 0);
    REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess && __half2float(read(halves, 8)[4]) == sum);
    nvshmem_barrier_all();
    nvshmem_free(a);
    nvshmem_free(b);
    nvshmem_free(halves);
}

}  // namespace

int main() {
    nvshmem_init();
    me = nvshmem_my_pe();
    n = nvshmem_n_pes();
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        if (me == 0) std::puts("SKIPPED (no GPU)");
        nvshmem_finalize();
        return 0;
    }
    REQUIRE(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus) == cudaSuccess);
    cudaStream_t stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
    check_moves(stream);
    check_collectives(stream);
    REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
    nvshmem_finalize();
    return 0;
}
