// Jacobi's method for Laplace's equation on a square whose rows are divided among the PEs. A kernel computes
// a step, and its threads store the rows at the seams into the neighbours' memory.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                         \
    do {                                                                                                    \
        const cudaError_t status = (call);                                                                  \
        if (status != cudaSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
            nvshmem_global_exit(1);                                                                         \
        }                                                                                                   \
    } while (0)

constexpr int width = 256, rows = 64, steps = 200;  // rows of a PE, without one above and one below

__global__ void step(float* to, const float* from, float* change, int above, int below) {
    const int column = int(blockIdx.x * blockDim.x + threadIdx.x), row = int(blockIdx.y) + 1;
    if (column == 0 || column >= width - 1) return;
    const float* const cell = from + row * width + column;
    const float mean = 0.25f * (cell[-1] + cell[1] + cell[-width] + cell[width]);
    to[row * width + column] = mean;
    if (row == 1 && above >= 0) nvshmem_float_p(to + (rows + 1) * width + column, mean, above);
    if (row == rows && below >= 0) nvshmem_float_p(to + column, mean, below);
    atomicAdd(change, (mean - *cell) * (mean - *cell));
}

/// The same steps for the whole square on the host.
std::vector<float> reference(int n) {
    const int height = rows * n + 2;
    std::vector<float> from(std::size_t(height) * width), to;
    for (int c = 0; c < width; ++c) from[std::size_t(c)] = 1.0f;
    to = from;
    for (int s = 0; s < steps; ++s) {
        for (int r = 1; r + 1 < height; ++r)
            for (int c = 1; c + 1 < width; ++c) {
                const float* const cell = from.data() + std::size_t(r) * width + c;
                to[std::size_t(r) * width + std::size_t(c)] =
                    0.25f * (cell[-1] + cell[1] + cell[-width] + cell[width]);
            }
        std::swap(from, to);
    }
    return from;
}

int main() {
    nvshmem_init();
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    int gpus = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus));
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));

    constexpr std::size_t cells = std::size_t(rows + 2) * width;
    auto* from = static_cast<float*>(nvshmem_calloc(cells, sizeof(float)));
    auto* to = static_cast<float*>(nvshmem_calloc(cells, sizeof(float)));
    auto* change = static_cast<float*>(nvshmem_calloc(2, sizeof(float)));
    if (me == 0) {  // the upper edge is hot
        const std::vector<float> edge(width, 1.0f);
        CHECK(cudaMemcpy(from, edge.data(), sizeof(float) * width, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(to, edge.data(), sizeof(float) * width, cudaMemcpyHostToDevice));
    }
    nvshmem_barrier_all();

    float norm = 0;
    for (int s = 0; s < steps; ++s) {
        CHECK(cudaMemsetAsync(change, 0, sizeof(float), stream));
        step<<<dim3(width / 64, rows), 64, 0, stream>>>(to, from, change, me > 0 ? me - 1 : -1,
                                                        me + 1 < n ? me + 1 : -1);
        CHECK(cudaGetLastError());
        nvshmemx_barrier_all_on_stream(stream);
        if (s + 1 == steps) {
            nvshmemx_float_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, change + 1, change, 1, stream);
            CHECK(cudaMemcpyAsync(&norm, change + 1, sizeof norm, cudaMemcpyDeviceToHost, stream));
        }
        std::swap(from, to);
    }
    CHECK(cudaStreamSynchronize(stream));

    std::vector<float> found(cells);
    CHECK(cudaMemcpy(found.data(), from, cells * sizeof(float), cudaMemcpyDeviceToHost));
    const std::vector<float> expected = reference(n);
    float error = 0;
    for (std::size_t i = width; i < cells - width; ++i)
        error = std::fmax(error, std::fabs(found[i] - expected[std::size_t(me) * rows * width + i]));
    if (me == 0) std::printf("%d steps, the last one changed the square by %.2e\n", steps, std::sqrt(norm));
    nvshmem_barrier_all();
    nvshmem_free(change);
    nvshmem_free(to);
    nvshmem_free(from);
    nvshmem_finalize();
    return error > 1e-5f || !(norm > 0);
}
