// The Jacobi iteration of examples/gpu/jacobi.cu and examples/11_kernels_jacobi, written for NVSHMEM in three
// forms. The first has a kernel and a stream barrier a step, the second a kernel with put-signal a step; both
// run in CUDA graphs. The third is one persistent kernel with put-signal and a grid barrier. Results are
// first compared with the CPU's. Two processes on two GPUs; built by build.sh, run with
// NVSHMEM_DISABLE_NVLS=1. PE 0 prints one line of JSON a row.
#include "nvshmem_job.cuh"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstring>

namespace {

using peers::check;
using peers::Word;
constexpr int n_pes = 2, in_graph = 20, most = 8192;

/// Rows 1 … rows belong to this PE. Rows 0 and rows + 1 are those of its neighbours; both are the same PE,
/// because two PEs form a ring.
struct Grid {
    int columns, rows, beside;
};

__host__ __device__ inline float relaxed(const float* cell, int columns) {
    return 0.25f * (cell[-columns] + cell[columns] + cell[-1] + cell[1]);
}
__device__ inline float2 pair_at(const float* cell) { return *reinterpret_cast<const float2*>(cell); }
/// Two cells a thread, as in examples/gpu/jacobi.cu.
__device__ void relax_row(Grid g, const float* from, float* to, int row) {
    for (int i = threadIdx.x; i < g.columns / 2; i += blockDim.x) {
        const std::size_t at = std::size_t(row) * g.columns + 2 * i;
        const float* cell = from + at;
        const float2 old = pair_at(cell), above = pair_at(cell - g.columns),
                     below = pair_at(cell + g.columns);
        float2 made = old;
        if (i != 0) made.x = 0.25f * (above.x + below.x + cell[-1] + old.y);
        if (2 * i + 2 != g.columns) made.y = 0.25f * (above.y + below.y + old.x + cell[2]);
        *reinterpret_cast<float2*>(to + at) = made;
    }
}
__device__ void inner_rows(Grid g, const float* from, float* to) {
    for (int row = blockIdx.x; row < g.rows; row += gridDim.x - 2)  // blocks from 2 on
        if (row > 1) relax_row(g, from, to, row);
}
/// The address of a boundary row on the neighbour.
__device__ float* halo(Grid g, float* to, bool top) {
    return to + (top ? std::size_t(g.rows + 1) * g.columns : 0);
}

/// Blocks 0 and 1 compute one boundary row each. Without signals a barrier follows on the stream.
template <bool Signals>
__device__ void one_step(Grid g, const float* from, float* to, Word* signals, Word step) {
    if (blockIdx.x >= 2) return inner_rows(g, from, to);
    const bool top = blockIdx.x == 0;
    const int row = top ? 1 : g.rows;
    if (Signals) {
        if (threadIdx.x == 0) nvshmem_signal_wait_until(signals + (top ? 0 : 1), NVSHMEM_CMP_GE, step);
        __syncthreads();
    }
    relax_row(g, from, to, row);
    __syncthreads();
    const float* source = to + std::size_t(row) * g.columns;
    const std::size_t bytes = std::size_t(g.columns) * sizeof(float);
    if (Signals)
        nvshmemx_putmem_signal_block(halo(g, to, top), source, bytes, signals + (top ? 1 : 0), step + 1,
                                     NVSHMEM_SIGNAL_SET, g.beside);
    else
        nvshmemx_putmem_block(halo(g, to, top), source, bytes, g.beside);
}

__global__ void __launch_bounds__(1024) with_barrier(Grid g, const float* from, float* to) {
    one_step<false>(g, from, to, nullptr, 0);
}
__global__ void __launch_bounds__(1024)
    with_signals(Grid g, const float* from, float* to, Word* signals, const Word* base, int i) {
    one_step<true>(g, from, to, signals, *base + i);
}
__global__ void advance(Word* base) { *base += in_graph; }
__global__ void __launch_bounds__(1024) persistent(Grid g, float* a, float* b, Word* signals, int steps) {
    const auto grid = cooperative_groups::this_grid();
    for (int step = 0; step < steps; ++step) {
        one_step<true>(g, a, b, signals, static_cast<Word>(step));
        grid.sync();
        float* const swapped = a;
        a = b;
        b = swapped;
    }
}

float start(int row, int column) { return float((row * 31 + column * 17) % 101); }

class Solver {
  public:
    explicit Solver(int me) : me_(me) {
        const std::size_t cells = std::size_t(most + 2) * most;
        a_ = static_cast<float*>(nvshmem_calloc(cells, sizeof(float)));
        b_ = static_cast<float*>(nvshmem_calloc(cells, sizeof(float)));
        signals_ = static_cast<Word*>(nvshmem_calloc(2, sizeof(Word)));
        check(cudaMalloc(&base_, sizeof(Word)));
    }
    /// Restores the initial state; without `cells`, that of the counters only.
    void reset(int columns, int rows, bool cells = true) {
        grid_ = {columns, rows, 1 - me_};
        nvshmem_barrier_all();
        if (cells) fill(columns, rows);
        check(cudaMemset(signals_, 0, 2 * sizeof(Word)));
        check(cudaMemset(base_, 0, sizeof(Word)));
        check(cudaDeviceSynchronize());
        nvshmem_barrier_all();
    }
    void fill(int columns, int rows) {
        std::vector<float> cells(std::size_t(rows + 2) * columns);
        const int all = rows * n_pes;
        for (int r = 0; r < rows + 2; ++r)
            for (int c = 0; c < columns; ++c)
                cells[std::size_t(r) * columns + c] = start((me_ * rows + r - 1 + all) % all, c);
        for (float* to : {a_, b_})
            check(cudaMemcpy(to, cells.data(), cells.size() * sizeof(float), cudaMemcpyHostToDevice));
    }
    /// Returns microseconds a step. `form` is 0: barrier, 1: signals, 2: persistent. The number of steps is
    /// even, and a multiple of a graph's.
    double run(int form, int steps, int blocks, int threads) {
        if (form == 2) {
            int count = steps;
            void* arguments[] = {&grid_, &a_, &b_, &signals_, &count};
            return timed([&](cudaStream_t stream) {
                       check(static_cast<cudaError_t>(
                           nvshmemx_collective_launch(reinterpret_cast<const void*>(persistent), blocks,
                                                      threads, arguments, 0, stream)));
                   }) /
                   steps;
        }
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        check(cudaStreamBeginCapture(timer_.stream(), cudaStreamCaptureModeThreadLocal));
        for (int i = 0; i < in_graph; ++i) {
            float *from = i % 2 ? b_ : a_, *to = i % 2 ? a_ : b_;
            if (form == 0) {
                with_barrier<<<blocks, threads, 0, timer_.stream()>>>(grid_, from, to);
                nvshmemx_barrier_all_on_stream(timer_.stream());
            } else {
                with_signals<<<blocks, threads, 0, timer_.stream()>>>(grid_, from, to, signals_, base_, i);
            }
        }
        if (form == 1) advance<<<1, 1, 0, timer_.stream()>>>(base_);
        check(cudaStreamEndCapture(timer_.stream(), &graph));
        check(cudaGraphInstantiate(&replay, graph, 0));
        const double us = timed([&](cudaStream_t stream) {
            for (int i = 0; i < steps; i += in_graph) check(cudaGraphLaunch(replay, stream));
        });
        check(cudaGraphExecDestroy(replay));
        check(cudaGraphDestroy(graph));
        return us / steps;
    }
    bool is_right(int steps) const {
        const int columns = grid_.columns, rows = grid_.rows, all = rows * n_pes;
        std::vector<float> from(std::size_t(all + 2) * columns);
        for (int r = 0; r < all; ++r)
            for (int c = 0; c < columns; ++c) from[std::size_t(r + 1) * columns + c] = start(r, c);
        std::vector<float> to = from;
        for (int s = 0; s < steps; ++s) {
            std::copy_n(from.end() - 2 * columns, columns, from.begin());
            std::copy_n(from.begin() + columns, columns, from.end() - columns);
            for (int r = 1; r <= all; ++r)
                for (int c = 1; c < columns - 1; ++c)
                    to[std::size_t(r) * columns + c] =
                        relaxed(from.data() + std::size_t(r) * columns + c, columns);
            from.swap(to);
        }
        std::vector<float> mine(std::size_t(rows) * columns);
        check(cudaMemcpy(mine.data(), a_ + columns, mine.size() * sizeof(float), cudaMemcpyDeviceToHost));
        return std::equal(mine.begin(), mine.end(), from.begin() + std::ptrdiff_t(me_ * rows + 1) * columns);
    }

  private:
    template <class Launch> double timed(Launch launch) {
        nvshmem_barrier_all();
        const double us = timer_.us(launch);
        nvshmem_barrier_all();
        return us;
    }
    int me_;
    Grid grid_{};
    float *a_, *b_;
    Word *signals_, *base_;
    peers::Timer timer_;
};

constexpr const char* forms[] = {"a kernel a step, barrier", "a kernel a step, put_signal",
                                 "one kernel, put_signal, grid sync"};

bool measure(int me) {
    Solver solver(me);
    for (const int form : {0, 1, 2}) {
        solver.reset(130, 66);
        solver.run(form, 60, 12, 64);
        if (solver.is_right(60)) continue;
        std::printf("PE %d: NVSHMEM, %s: WRONG\n", me, forms[form]);
        return false;
    }
    for (int size = 64; size <= most; size *= 2) {
        const int steps = size >= 4096 ? 200 : 2000;
        solver.reset(size, size);
        for (const int form : {0, 1, 2}) {
            double best = 1e30;
            for (const int threads : {256, 512, 1024})
                for (const int blocks : {18, 34, 66, 132}) {
                    if (blocks > size + 2 || (form < 2 && blocks < std::min(size, 66))) continue;
                    // If there are more rows than resident blocks, a kernel of one step uses one block a row.
                    const int taken =
                        form < 2 && blocks == 132 ? std::min(size, 132 * (1024 / threads)) + 2 : blocks;
                    solver.reset(size, size, false);
                    solver.run(form, steps, taken, threads);
                    if (form == 2) solver.reset(size, size, false);  // its signals count from 0
                    best = std::min(best, solver.run(form, steps, taken, threads));
                }
            if (me == 0)
                std::printf(
                    "{\"side\": \"nvshmem\", \"op\": \"Jacobi step, %s, %d x %d a GPU\", \"bytes\": %d, "
                    "\"pes\": %d, "
                    "\"median_us\": %.4f}\n",
                    forms[form], size, size, size * 4, n_pes, best);
            std::fflush(stdout);
        }
    }
    return true;
}

}  // namespace

int main() {
    setenv("NVSHMEM_SYMMETRIC_SIZE", "1G", 0);
    return peers::run(n_pes, [](int me, int) { return measure(me); });
}
