// A square matrix with rows on all PEs is transposed twice: by strided puts, and by an all-to-all of blocks.
#include <cstdio>
#include <nvshmem.h>
#include <nvshmemx.h>

constexpr int rows = 8;  // on each PE

double element(int row, int column) { return 1000.0 * row + column; }

// The number of wrong elements of a transposed matrix, whose rows of this PE begin at `first`.
int wrong_elements(const double* found, int first, int size, int me) {
    int wrong = 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < size; ++c)
            wrong += nvshmem_double_g(found + r * size + c, me) != element(c, first + r);
    return wrong;
}

int main(void) {
    nvshmem_init();
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    const int size = rows * n, first = rows * me;
    const size_t bytes = std::size_t(rows) * std::size_t(size) * sizeof(double);
    auto* a = static_cast<double*>(nvshmem_malloc(bytes));
    auto* by_puts = static_cast<double*>(nvshmem_malloc(bytes));
    auto* packed = static_cast<double*>(nvshmem_malloc(bytes));
    auto* blocks = static_cast<double*>(nvshmem_malloc(bytes));
    if (a == nullptr || by_puts == nullptr || packed == nullptr || blocks == nullptr) nvshmem_global_exit(1);

    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < size; ++c) nvshmem_double_p(a + r * size + c, element(first + r, c), me);
    nvshmem_barrier_all();

    // A row of a block becomes a column on another PE.
    for (int pe = 0; pe < n; ++pe)
        for (int r = 0; r < rows; ++r)
            nvshmem_double_iput(by_puts + first + r, a + r * size + pe * rows, size, 1, rows, pe);
    nvshmem_barrier_all();
    int wrong = wrong_elements(by_puts, first, size, me);

    // Each block is transposed into a buffer, which then has the block for each PE in one piece.
    for (int pe = 0; pe < n; ++pe)
        for (int r = 0; r < rows; ++r)
            nvshmem_double_iput(packed + pe * rows * rows + r, a + r * size + pe * rows, rows, 1, rows, me);
    nvshmem_quiet();
    nvshmem_double_alltoall(NVSHMEM_TEAM_WORLD, blocks, packed, rows * rows);
    for (int pe = 0; pe < n; ++pe)
        for (int r = 0; r < rows; ++r)
            for (int c = 0; c < rows; ++c)
                wrong += nvshmem_double_g(blocks + (pe * rows + r) * rows + c, me) !=
                         element(pe * rows + c, first + r);

    if (me == 0) std::printf("%d x %d elements transposed\n", size, size);
    nvshmem_barrier_all();
    nvshmem_free(blocks);
    nvshmem_free(packed);
    nvshmem_free(by_puts);
    nvshmem_free(a);
    nvshmem_finalize();
    return wrong != 0;
}
