/* The style of programs of OpenSHMEM 1.0 to 1.3: start_pes, pWrk and pSync, names with an underscore. */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define N 7
#define WORK (N / 2 + 1 > _SHMEM_REDUCE_MIN_WRKDATA_SIZE ? N / 2 + 1 : _SHMEM_REDUCE_MIN_WRKDATA_SIZE)

static long pSync[_SHMEM_REDUCE_SYNC_SIZE], pSyncB[_SHMEM_BCAST_SYNC_SIZE], pSyncC[_SHMEM_COLLECT_SYNC_SIZE];
static long pSyncBarrier[_SHMEM_BARRIER_SYNC_SIZE];
double source[N], total[N], pWrk[WORK];
int least[N], ints[N], iWrk[WORK];
long ready, lock;
short half;
int gathered[64], part[1];

static void check(int condition, const char* what) {
    if (condition) return;
    fprintf(stderr, "PE %d: %s\n", _my_pe(), what);
    shmem_global_exit(1);
}

int main(void) {
    int i, me, npes, old;
    long* heap;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++) pSync[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++) pSyncB[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < _SHMEM_COLLECT_SYNC_SIZE; i++) pSyncC[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < _SHMEM_BARRIER_SYNC_SIZE; i++) pSyncBarrier[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < N; i++) {
        source[i] = me + i;
        ints[i] = me - i;
    }
    shmem_barrier_all();
    shmem_double_sum_to_all(total, source, N, 0, 0, npes, pWrk, pSync);
    for (i = 0; i < N; i++) check(total[i] == npes * (npes - 1) / 2.0 + (double)npes * i, "sum_to_all");
    shmem_barrier_all();
    shmem_int_min_to_all(least, ints, N, 0, 0, npes, iWrk, pSync);
    for (i = 0; i < N; i++) check(least[i] == -i, "min_to_all");
    part[0] = me * me;
    shmem_fcollect32(gathered, part, 1, 0, 0, npes, pSyncC);
    for (i = 0; i < npes; i++) check(gathered[i] == i * i, "fcollect32");
    least[0] = -5;
    shmem_barrier(0, 0, npes, pSyncBarrier);
    if (me == 0) ints[0] = 42;
    shmem_broadcast32(least, ints, 1, 0, 0, 0, npes, pSyncB);
    check(least[0] == (me == 0 ? -5 : 42), "broadcast32");
    shmem_barrier(0, 0, npes, pSyncBarrier);
    shmem_long_p(&ready, 1, (me + 1) % npes);
    shmem_wait(&ready, 0);
    shmem_short_p(&half, 3, (me + 1) % npes);
    shmem_short_wait_until(&half, _SHMEM_CMP_EQ, 3);
    shmem_barrier_all();
    old = shmem_int_finc(&ints[1], 0);
    check(old >= -1 && old < npes, "finc");
    (void)shmem_long_swap(&ready, me, me);
    check(shmem_long_cswap(&ready, me, 9, me) == me && ready == 9, "cswap");
    heap = (long*)shmalloc(npes * sizeof(long));
    shmem_long_p(&heap[me], me, 0);
    shmem_barrier_all();
    for (i = 0; me == 0 && i < npes; i++) check(heap[i] == i, "shmalloc");
    if (shmem_test_lock(&lock) == 0) shmem_clear_lock(&lock);
    shfree(heap);
    return 0;
}
