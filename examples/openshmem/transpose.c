/* A matrix by rows on each PE, transposed by alltoall of blocks; and a column fetched with a stride. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    double* row = shmem_malloc((size_t)n * sizeof *row); /* row `me` of an n by n matrix */
    double* column = shmem_malloc((size_t)n * sizeof *column);
    for (int j = 0; j < n; ++j) row[j] = me + j / 100.0;
    shmem_barrier_all();
    shmem_alltoall(SHMEM_TEAM_WORLD, column, row, 1);
    int wrong = 0;
    for (int i = 0; i < n; ++i) wrong |= column[i] != i + me / 100.0;
    double odd[8];
    const size_t count = (size_t)(n / 2 < 8 ? n / 2 : 8);
    shmem_iget(odd, row + 1, 1, 2, count, (me + 1) % n); /* every second element of the neighbour's row */
    for (size_t i = 0; i < count; ++i) wrong |= odd[i] != (me + 1) % n + (2 * (double)i + 1) / 100.0;
    if (me == 0) printf("transposed %d by %d\n", n, n);
    shmem_barrier_all();
    shmem_free(column);
    shmem_free(row);
    shmem_finalize();
    return wrong;
}
