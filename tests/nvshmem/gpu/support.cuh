// Checks in kernels and their report, shared by the programs beside it.
#pragma once

#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>
#include <cstdlib>

namespace {

int me, n;
int* wrong;  // in GPU memory: the first line whose check failed

#define CUDA(call)                                                                  \
    do {                                                                            \
        const cudaError_t status_ = (call);                                         \
        if (status_ != cudaSuccess) {                                               \
            std::fprintf(stderr, "PE %d of %d: %s is %s (line %d)\n", me, n, #call, \
                         cudaGetErrorString(status_), __LINE__);                    \
            std::exit(1);                                                           \
        }                                                                           \
    } while (0)
#define REQUIRE(condition)                                                                          \
    do {                                                                                            \
        if (!(condition)) {                                                                         \
            std::fprintf(stderr, "PE %d of %d: %s fails (line %d)\n", me, n, #condition, __LINE__); \
            std::exit(1);                                                                           \
        }                                                                                           \
    } while (0)
#define CHECK(condition) \
    if (!(condition)) atomicCAS(wrong, 0, __LINE__)

/// Waits for the GPU and all PEs; ends the program if a check failed.
void check_no_line(const char* what) {
    CUDA(cudaDeviceSynchronize());
    int line = 0;
    CUDA(cudaMemcpy(&line, wrong, sizeof line, cudaMemcpyDeviceToHost));
    if (line != 0) {
        std::fprintf(stderr, "PE %d of %d: %s is wrong (line %d)\n", me, n, what, line);
        std::exit(1);
    }
    nvshmem_barrier_all();
}

/// Launches one block on all PEs and waits; ends the program if a check failed.
template <class... Parameters>
void launch(const char* what, void (*kernel)(Parameters...), unsigned threads, Parameters... values) {
    void* arguments[] = {static_cast<void*>(&values)...};
    REQUIRE(nvshmemx_collective_launch(reinterpret_cast<const void*>(kernel), dim3(1), dim3(threads),
                                       arguments, 0, nullptr) == 0);
    check_no_line(what);
}

template <class T> T* symmetric(size_t count) {
    auto* memory = static_cast<T*>(nvshmem_calloc(count, sizeof(T)));
    REQUIRE(memory != nullptr);
    return memory;
}

/// Joins the job and chooses the GPU. False without one; then the program has ended.
bool begin() {
    nvshmem_init();
    me = nvshmem_my_pe();
    n = nvshmem_n_pes();
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        if (me == 0) std::puts("SKIPPED (no GPU)");
        nvshmem_finalize();
        return false;
    }
    CUDA(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus));
    CUDA(cudaMalloc(&wrong, sizeof *wrong));
    CUDA(cudaMemset(wrong, 0, sizeof *wrong));
    return true;
}

}  // namespace
