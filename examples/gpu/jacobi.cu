// Jacobi's method on a grid whose rows are distributed over the PEs in a ring; left and right columns are
// fixed. There are two ways to exchange the rows at the seams.
//
// Persistent: all steps are one kernel. A seam's row goes to the neighbouring PE by a mailbox, whose words
// carry their own flags. Blocks of one GPU synchronize with their neighbours by flags; there is no barrier of
// the grid.
//
// Stepwise: a kernel per step, in a CUDA graph: put_signal into the neighbour's row, signal_consume before
// the next.
//
// "jacobi" compares both with the same steps on the CPU. "jacobi times" prints the time of a step, from 64²
// to 8192² per GPU: one line of JSON each.
#include "example.hpp"

#include <atoll/device/device.hpp>
#include <atoll/device/launch.hpp>

#include <algorithm>
#include <cstring>

namespace device = atl::device;
using Word = unsigned long long;

/// Rows 1 … rows are this PE's, 0 and rows + 1 its neighbours'. An even number of columns.
struct Grid {
    int columns, rows;
    float *old_cells, *new_cells;
};

__device__ __host__ inline float mean(float above, float below, float left, float right) {
    return 0.25f * (above + below + left + right);
}
__device__ __host__ inline float relaxed(const float* cell, int columns) {
    return mean(cell[-columns], cell[columns], cell[-1], cell[1]);
}
/// Adjacent cells: 8 or 16 bytes, which a thread loads and stores at once.
template <int V> struct alignas(4 * V) Cells { float v[V]; };
template <int V> __device__ inline Cells<V> cells_at(const float* cell) {
    return *reinterpret_cast<const Cells<V>*>(cell);
}
template <int V> __device__ inline void store_cells(float* to, const Cells<V>& cells) {
    *reinterpret_cast<Cells<V>*>(to) = cells;
}
/// New cells from `column` on, given the old ones and those above, below, left and right of them.
template <int V>
__device__ inline Cells<V> relaxed_cells(int column, int columns, const Cells<V>& old, const Cells<V>& above,
                                         const Cells<V>& below, float left, float right) {
    Cells<V> made;
#pragma unroll
    for (int k = 0; k < V; ++k)
        made.v[k] =
            mean(above.v[k], below.v[k], k > 0 ? old.v[k - 1] : left, k + 1 < V ? old.v[k + 1] : right);
    if (column == 0) made.v[0] = old.v[0];
    if (column + V == columns) made.v[V - 1] = old.v[V - 1];
    return made;
}

/// N rows of V columns. All loads of a thread are in flight before its first store, since the compiler must
/// assume that they alias. Otherwise the latency of memory would limit the speed, not its bandwidth.
template <int V, int N>
__device__ __forceinline__ void piece(const Grid& g, const float* from, float* to, int row, int column) {
    const std::size_t at = std::size_t(row) * g.columns + column;
    const float* const above = from + at - g.columns;
    Cells<V> old[N + 2];
    float left[N], right[N];
#pragma unroll
    for (int k = 0; k < N + 2; ++k) old[k] = cells_at<V>(above + std::size_t(k) * g.columns);
#pragma unroll
    for (int k = 0; k < N; ++k) {
        left[k] = above[std::size_t(k + 1) * g.columns - 1];
        right[k] = above[std::size_t(k + 1) * g.columns + V];
    }
#pragma unroll
    for (int k = 0; k < N; ++k)
        store_cells(to + at + std::size_t(k) * g.columns,
                    relaxed_cells(column, g.columns, old[k + 1], old[k], old[k + 2], left[k], right[k]));
}

/// Rows first … end - 1, in bands; each band is `step` bands after the one before.
__device__ void inner_rows(const Grid& g, const float* from, float* to, int first, int end, int step) {
    constexpr int rows = 4;
    for (int row = first; row < end; row += step * rows)
        for (int column = 2 * int(threadIdx.x); column < g.columns; column += 2 * int(blockDim.x)) {
            if (row + rows <= end)
                piece<2, rows>(g, from, to, row, column);
            else
                for (int last = row; last < end; ++last) piece<2, 1>(g, from, to, last, column);
        }
}

/// The same for grids limited by memory bandwidth. A worker computes pieces of N rows, with V columns a
/// thread. Every other step runs backwards, since the cache still has the data written last. A worker has the
/// same pieces in all steps: a cache has halves, and these are in the near one.
template <int V, int N>
__device__ void sweep(const Grid& g, const float* from, float* to, int first, int end, int worker,
                      int workers, bool forth) {
    const int strip = V * int(blockDim.x), strips = (g.columns + strip - 1) / strip;
    const int pieces = strips * ((end - first + N - 1) / N);
    const int turns = (pieces + workers - 1 - worker) / workers;
    for (int turn = 0; turn < turns; ++turn) {
        const int which = worker + workers * (forth ? turn : turns - 1 - turn);
        const int row = first + N * (which / strips);
        const int column = which % strips * strip + V * int(threadIdx.x);
        if (column >= g.columns) continue;
        if (row + N <= end)
            piece<V, N>(g, from, to, row, column);
        else
            for (int last = row; last < end; ++last) piece<V, 1>(g, from, to, last, column);
    }
}

// ---- persistent

struct Seams {
    device::Mailbox up, down;  ///< rows for the PE above, and below
    unsigned* done;            ///< [block], 128 bytes apart: number of finished steps of its first and last
                               ///< row
};
constexpr int flag_stride = 32, most_blocks = 264;

using Outbox = device::Outbox<device::Block>;
using Inbox = device::Inbox<device::Block>;

/// A row without a neighbouring PE.
struct NoSeam {
    static constexpr bool takes = false, gives = false;
};
/// The row beside it comes from the neighbouring PE, directly into registers, and the new cells go there.
struct Seam {
    Inbox& in;
    Outbox& out;
    bool takes;  ///< otherwise the row beside it is in memory: in the very first step
    static constexpr bool gives = true;
};

/// A row's new cells. Top: the row above belongs to another block or PE, otherwise the row below.
template <bool Top, class Where>
__device__ __forceinline__ void edge_row(const Grid& g, const float* from, float* to, int row, Where seam) {
    if constexpr (Where::gives) {
        if (seam.takes) seam.in.begin();
        seam.out.begin();
    }
    for (int i = threadIdx.x; i < g.columns / 2; i += blockDim.x) {
        const std::size_t at = std::size_t(row) * g.columns + 2 * i;
        const auto inner = cells_at<2>(from + at + (Top ? g.columns : -g.columns));
        Cells<2> outer;
        if (seam.takes) {
            if constexpr (Where::gives) {
                const Word bits = seam.in.load(i);
                memcpy(&outer, &bits, sizeof outer);
            }
        } else {
            outer = cells_at<2>(from + at + (Top ? -g.columns : g.columns));
        }
        const float* const cell = from + at;
        const auto pair =
            relaxed_cells(2 * i, g.columns, cells_at<2>(cell), Top ? outer : inner, Top ? inner : outer,
                          i == 0 ? 0.0f : cell[-1], 2 * i + 2 == g.columns ? 0.0f : cell[2]);
        if constexpr (Where::gives) {
            Word bits;
            memcpy(&bits, &pair, sizeof bits);
            seam.out.store(i, bits);
        }
        store_cells(to + at, pair);
    }
    if constexpr (Where::gives) {
        if (seam.takes) seam.in.end();
        seam.out.end();
    }
}

__device__ void wait_for(const device::Team& team, const Seams& seams, int block, unsigned step) {
    device::local_wait_until(team, seams.done + block * flag_stride, device::Compare::ge, step);
}

/// Block b has rows first … last; at least two blocks, so that each has at most one seam. Before a step it
/// waits for the blocks above and below. It needs only their rows beside its own, which they compute first.
template <int Threads>
__global__ void __launch_bounds__(Threads, 1)
    persistent(device::Team team, Grid g, Seams seams, unsigned before, int steps) {
    const device::Block scope;
    const int blocks = gridDim.x, b = blockIdx.x;
    const int first = 1 + int((long long)(g.rows) * b / blocks),
              last = int((long long)(g.rows) * (b + 1) / blocks);
    const bool top = b == 0, bottom = b == blocks - 1;
    const int beside = (team.my_pe + (top ? team.n_pes - 1 : 1)) % team.n_pes;
    Outbox out(team, top ? seams.up : seams.down, beside);
    Inbox in(team, top ? seams.down : seams.up, beside);
    float *from = g.old_cells, *to = g.new_cells;
    for (unsigned step = before; step < before + steps; ++step) {
        if (!top && threadIdx.x == 0) wait_for(team, seams, b - 1, step);
        if (!bottom && threadIdx.x == 32 % blockDim.x) wait_for(team, seams, b + 1, step);
        scope.sync();
        const Seam seam{in, out, step > 0};  // at the very first step the neighbour's row is already here
        if (top)
            edge_row<true>(g, from, to, first, seam);
        else if (!bottom || first != last)
            edge_row<true>(g, from, to, first, NoSeam{});
        if (bottom)
            edge_row<false>(g, from, to, last, seam);
        else if (first != last)
            edge_row<false>(g, from, to, last, NoSeam{});
        scope.sync();
        if (threadIdx.x == 0) device::local_set(team, seams.done + b * flag_stride, step + 1);
        inner_rows(g, from, to, first + 1, last, 1);
        float* const swapped = from;
        from = to;
        to = swapped;
    }
    if (top || bottom) {
        out.close();
        in.close();
    }
}

// ---- stepwise

/// signals[0]: the row above has arrived, [1]: the row below. Wide: 16 bytes of eight rows a thread, else 8
/// bytes of four.
template <bool Wide>
__global__ void __launch_bounds__(Wide ? 256 : 1024, Wide ? 2 : 1)
    step(device::Team team, Grid g, Word* signals, bool forth) {
    const device::Block block;
    if (blockIdx.x >= 2) {
        const int worker = blockIdx.x - 2, workers = gridDim.x - 2;
        if constexpr (Wide)
            sweep<4, 8>(g, g.old_cells, g.new_cells, 2, g.rows, worker, workers, forth);
        else
            inner_rows(g, g.old_cells, g.new_cells, 2 + worker * 4, g.rows, workers);
        return;
    }
    const bool top = blockIdx.x == 0;
    const int above = (team.my_pe + team.n_pes - 1) % team.n_pes, below = (team.my_pe + 1) % team.n_pes;
    const int row = top ? 1 : g.rows;
    device::signal_consume(team, signals + (top ? 0 : 1), 1, block);
    if (top)
        edge_row<true>(g, g.old_cells, g.new_cells, row, NoSeam{});
    else
        edge_row<false>(g, g.old_cells, g.new_cells, row, NoSeam{});
    block.sync();
    float* const beside = g.new_cells + (top ? std::size_t(g.rows + 1) * g.columns : 0);
    device::put_signal(team, beside, g.new_cells + std::size_t(row) * g.columns, g.columns,
                       signals + (top ? 1 : 0), 1, device::SignalOp::add, top ? above : below, block);
}

// ---- the host

class Solver {
  public:
    Solver(atoll::Job& job, int most) : job_(job), team_(job.world().device(atoll::Memory::device)) {
        const std::size_t cells = std::size_t(most + 2) * most;
        a_ = zeros<float>(job, cells);
        b_ = zeros<float>(job, cells);
        room_ = Word(most) * 4;
        box_bytes_ = device::mailbox_bytes(team_.n_pes, room_);
        boxes_ = zeros<char>(job, 2 * box_bytes_);
        done_ = zeros<unsigned>(job, most_blocks * flag_stride);
        signals_ = zeros<Word>(job, 2);
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        check(cudaEventCreate(&begin_));
        check(cudaEventCreate(&end_));
    }
    static float start(int row, int column) { return float((row * 31 + column * 17) % 101); }

    void reset(int columns, int rows) {
        grid_ = {columns, rows, a_, b_};
        std::vector<float> cells(std::size_t(rows + 2) * columns);
        const int all = rows * team_.n_pes;
        for (int r = 0; r < rows + 2; ++r)
            for (int c = 0; c < columns; ++c)
                cells[std::size_t(r) * columns + c] = start((team_.my_pe * rows + r - 1 + all) % all, c);
        upload(a_, cells);
        upload(b_, cells);
        upload(boxes_, std::vector<char>(2 * box_bytes_));
        upload(done_, std::vector<unsigned>(most_blocks * flag_stride));
        upload(signals_, std::vector<Word>{1, 1});
        before_ = 0;
        job_.world().barrier();
    }
    static bool fits(int blocks, int threads) {
        return blocks <= device::most_resident_blocks(kernel_for(threads), threads);
    }
    /// Microseconds a step.
    double run_persistent(int steps, int blocks, int threads) {
        // Both directions of a mailbox use one kind of message: rows of one length.
        const Word row = Word(grid_.columns) * 4;
        const Seams seams{{boxes_, row}, {boxes_ + box_bytes_, row}, done_};
        const double us = timed([&] {
            check(device::cooperative_launch(kernel_for(threads), dim3(blocks), dim3(threads), 0, stream_,
                                             team_, grid_, seams, before_, steps));
        });
        advance(steps);
        return us / steps;
    }
    /// `wide`: the columns are a multiple of four.
    double run_stepwise(int steps, int blocks, int threads, bool wide) {
        constexpr int in_graph = 20;
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t replay = nullptr;
        check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        Grid g = grid_;
        for (int i = 0; i < in_graph; ++i) {
            const auto kernel = wide ? step<true> : step<false>;
            kernel<<<blocks, threads, 0, stream_>>>(team_, g, signals_, i % 2 == 0);
            std::swap(g.old_cells, g.new_cells);
        }
        check(cudaStreamEndCapture(stream_, &graph));
        check(cudaGraphInstantiate(&replay, graph, 0));
        const double us = timed([&] {
            for (int i = 0; i < steps; i += in_graph) check(cudaGraphLaunch(replay, stream_));
        });
        check(cudaGraphExecDestroy(replay));
        check(cudaGraphDestroy(graph));
        return us / steps;
    }
    std::vector<float> cells() const {
        return download(grid_.old_cells, std::size_t(grid_.rows + 2) * grid_.columns);
    }

  private:
    static auto kernel_for(int threads) -> decltype(&persistent<512>) {
        return threads > 512 ? persistent<1024> : persistent<512>;
    }
    template <class Launch> double timed(Launch launch) {
        job_.world().barrier();
        check(cudaEventRecord(begin_, stream_));
        launch();
        check(cudaEventRecord(end_, stream_));
        check(cudaStreamSynchronize(stream_));
        float ms = 0;
        check(cudaEventElapsedTime(&ms, begin_, end_));
        job_.world().barrier();
        return ms * 1e3;
    }
    void advance(int steps) {
        before_ += unsigned(steps);
        if (steps % 2) std::swap(grid_.old_cells, grid_.new_cells);
    }

    atoll::Job& job_;
    device::Team team_;
    float *a_, *b_;
    Word room_, box_bytes_;
    char* boxes_;
    unsigned* done_;
    Word* signals_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t begin_ = nullptr, end_ = nullptr;
    Grid grid_{};
    unsigned before_ = 0;
};

/// The whole grid's rows after `steps`, those of this PE.
std::vector<float> on_cpu(int columns, int rows, int pe, int n_pes, int steps) {
    const int all = rows * n_pes;
    std::vector<float> from(std::size_t(all + 2) * columns), to;
    for (int r = 0; r < all; ++r)
        for (int c = 0; c < columns; ++c) from[std::size_t(r + 1) * columns + c] = Solver::start(r, c);
    to = from;
    for (int s = 0; s < steps; ++s) {
        std::copy_n(from.end() - 2 * columns, columns, from.begin());
        std::copy_n(from.begin() + columns, columns, from.end() - columns);
        for (int r = 1; r <= all; ++r)
            for (int c = 1; c < columns - 1; ++c)
                to[std::size_t(r) * columns + c] =
                    relaxed(from.data() + std::size_t(r) * columns + c, columns);
        from.swap(to);
    }
    const auto mine = from.begin() + std::ptrdiff_t(pe * rows + 1) * columns;
    return {mine, mine + std::ptrdiff_t(rows) * columns};
}

bool compare(atoll::Job& job, Solver& solver) {
    bool right = true;
    const auto expect = [&](const char* what, int columns, int rows, int steps) {
        const std::vector<float> cells = solver.cells(),
                                 expected = on_cpu(columns, rows, job.my_pe(), job.n_pes(), steps);
        if (std::equal(expected.begin(), expected.end(), cells.begin() + columns)) return;
        std::printf("PE %d: %s differs from the CPU at %d x %d\n", job.my_pe(), what, rows, columns);
        right = false;
    };
    for (const int size : {2, 10, 64, 130, 132}) {
        for (const int blocks : {2, 3, 8}) {
            if (blocks > size) continue;
            solver.reset(size, size);
            solver.run_persistent(41, blocks, 64);
            solver.run_persistent(19, blocks, 64);  // goes on where the other ended
            expect("persistent", size, size, 60);
        }
        if (size < 3) continue;  // edge and inner rows differ
        for (const bool wide : {false, true}) {
            if (wide && size % 4 != 0) continue;
            solver.reset(size, size);
            solver.run_stepwise(60, 10, 64, wide);
            expect(wide ? "stepwise, wide" : "stepwise", size, size, 60);
        }
    }
    return right;
}

/// Takes the best of several numbers of blocks and threads, after one warm-up run.
void times(atoll::Job& job, Solver& solver) {
    for (int size = 64; size <= 8192; size *= 2) {
        const int steps = size >= 4096 ? 200 : 2000;
        double best[2] = {1e30, 1e30};
        const auto note = [&](int way, double us) { best[way] = std::min(best[way], us); };
        for (const int threads : {256, 512, 1024}) {
            for (const int blocks : {8, 16, 32, 64, 132, 264}) {
                if (blocks > size || !Solver::fits(blocks, threads)) continue;
                solver.reset(size, size);
                solver.run_persistent(steps, blocks, threads);
                note(0, solver.run_persistent(steps, blocks, threads));
            }
            for (const int blocks : {132, 264, 528})
                for (const bool wide : {false, true}) {
                    if (blocks * threads > 132 * 1024 || (wide && threads > 256)) continue;
                    solver.reset(size, size);
                    solver.run_stepwise(steps, std::min(size, blocks) + 2, threads, wide);
                    note(1, solver.run_stepwise(steps, std::min(size, blocks) + 2, threads, wide));
                }
        }
        for (const int way : {0, 1})
            if (job.my_pe() == 0)
                std::printf(
                    "{\"side\": \"atoll\", \"op\": \"Jacobi step, %s, %d x %d a GPU\", \"bytes\": %d, "
                    "\"pes\": "
                    "%d, \"median_us\": %.4f}\n",
                    way ? "stepwise" : "persistent", size, size, size * 4, job.n_pes(), best[way]);
    }
}

int main(int count, char** arguments) {
    const bool timed = count > 1 && std::strcmp(arguments[1], "times") == 0;
    return run([&](atoll::Job& job) {
        Solver solver(job, timed ? 8192 : 132);
        if (timed) times(job, solver);
        return timed || compare(job, solver);
    });
}
