/* All PEs call collectives of the active set of PEs 1 and up, as some old programs do: PE 0 is not in it. */
#include <shmem.h>
#include <stdio.h>

static long dest = -1, source = 5, psync[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long all[8];

int main(void) {
    shmem_init();
    const int n = shmem_n_pes(), me = shmem_my_pe();
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int i = 0; i < 3; ++i) {
        shmem_barrier(1, 0, n - 1, psync);
        shmem_long_sum_to_all(&dest, &source, 1, 1, 0, n - 1, work, psync);
        shmem_fcollect64(all, &source, 1, 1, 0, n - 1, psync);
        shmem_sync(1, 0, n - 1, psync);
    }
    const long expected = me == 0 ? -1 : 5 * (n - 1);
    if (dest != expected || all[0] != (me == 0 ? 0 : 5) || psync[0] != SHMEM_SYNC_VALUE) {
        fprintf(stderr, "PE %d: dest %ld, all[0] %ld\n", me, dest, all[0]);
        shmem_global_exit(1);
    }
    shmem_finalize();
    return 0;
}
