// All-reduce within one kernel: a ring of puts with signals, beside the function of the library.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                                                         \
    do {                                                                                                    \
        const cudaError_t status = (call);                                                                  \
        if (status != cudaSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
            nvshmem_global_exit(1);                                                                         \
        }                                                                                                   \
    } while (0)

constexpr int part = 4096, threads = 256;  // elements of a PE's part of the sum

/// Sums `data` of all PEs, which has a part for each. One block. `inbox` has a place for each message, and
/// `arrived` a signal.
__global__ void ring(float* data, float* inbox, uint64_t* arrived) {
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes(), right = (me + 1) % n;
    for (int message = 0; message < 2 * (n - 1); ++message) {
        const int sent = (me - message + 2 * n) % n, taken = (me - message - 1 + 2 * n) % n;
        float* const place = inbox + message * part;
        nvshmemx_float_put_signal_block(place, data + sent * part, part, arrived + message, 1,
                                        NVSHMEM_SIGNAL_SET, right);
        if (threadIdx.x == 0) nvshmem_signal_wait_until(arrived + message, NVSHMEM_CMP_EQ, 1);
        __syncthreads();
        const bool adds = message < n - 1;  // then the sums go around
        for (int i = int(threadIdx.x); i < part; i += int(blockDim.x))
            data[taken * part + i] = adds ? data[taken * part + i] + place[i] : place[i];
        __syncthreads();
    }
}

__global__ void by_library(float* result, const float* data, int count) {
    nvshmemx_float_sum_reduce_block(NVSHMEM_TEAM_WORLD, result, data, std::size_t(count));
}

void launch(const void* kernel, void** arguments) {
    if (nvshmemx_collective_launch(kernel, dim3(1), dim3(threads), arguments, 0, nullptr) != 0) {
        std::fprintf(stderr, "a collective launch failed\n");
        nvshmem_global_exit(1);
    }
    CHECK(cudaDeviceSynchronize());
    nvshmem_barrier_all();
}

int main() {
    nvshmem_init();
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus));

    int count = part * n;
    const std::size_t bytes = sizeof(float) * std::size_t(count);
    auto* data = static_cast<float*>(nvshmem_malloc(bytes));
    auto* result = static_cast<float*>(nvshmem_malloc(bytes));
    auto* inbox = static_cast<float*>(nvshmem_malloc(2 * bytes));
    auto* arrived = static_cast<uint64_t*>(nvshmem_calloc(2 * std::size_t(n), sizeof(uint64_t)));
    std::vector<float> values(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) values[std::size_t(i)] = float(i % 101 + me);
    CHECK(cudaMemcpy(data, values.data(), bytes, cudaMemcpyHostToDevice));
    nvshmem_barrier_all();

    void* theirs[] = {&result, &data, &count};
    launch(reinterpret_cast<const void*>(by_library), theirs);
    void* own[] = {&data, &inbox, &arrived};
    launch(reinterpret_cast<const void*>(ring), own);

    int wrong = 0;
    for (const float* found : {result, data}) {
        CHECK(cudaMemcpy(values.data(), found, bytes, cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; ++i)
            wrong += values[std::size_t(i)] != float(n * (i % 101) + n * (n - 1) / 2);
    }
    if (me == 0) std::printf("%d elements were added on %d PEs\n", count, n);
    nvshmem_free(arrived);
    nvshmem_free(inbox);
    nvshmem_free(result);
    nvshmem_free(data);
    nvshmem_finalize();
    return wrong != 0;
}
