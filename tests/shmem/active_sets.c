/* The deprecated collectives: active sets without teams, reused and overlapping pSync arrays. */
#include "check.h"

static long sync_a[SHMEM_BARRIER_SYNC_SIZE], sync_b[SHMEM_REDUCE_SYNC_SIZE], sync_c[SHMEM_BCAST_SYNC_SIZE];
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 4];
static long source[4], dest[4];
static int32_t from[2], to[2];

static int in_set(int start, int log_stride, int size) {
    const int distance = shmem_my_pe() - start;
    return distance >= 0 && distance % (1 << log_stride) == 0 && distance >> log_stride < size;
}

/* The arrays were used by another set before, so all synchronise first, as the specification requires. */
static void use(int start, int log_stride, int size) {
    shmem_barrier_all();
    if (!in_set(start, log_stride, size)) return;
    const int place = (shmem_my_pe() - start) >> log_stride;
    for (int i = 0; i < 20; ++i) { /* the same pSync at once */
        shmem_barrier(start, log_stride, size, sync_a);
        (shmem_sync)(start, log_stride, size, sync_a);
        shmem_sync(start, log_stride, size, sync_a);
    }
    for (long i = 0; i < 4; ++i) source[i] = place + i;
    shmem_long_sum_to_all(dest, source, 4, start, log_stride, size, work, sync_b);
    for (long i = 0; i < 4; ++i) CHECK(dest[i] == size * (size - 1) / 2 + size * i);
    from[0] = from[1] = 100 + place;
    to[0] = to[1] = -1;
    shmem_barrier(start, log_stride, size, sync_a);
    shmem_broadcast32(to, from, 2, size - 1, start, log_stride, size, sync_c);
    CHECK(to[0] == (place == size - 1 ? -1 : 100 + size - 1)); /* the root's target is unchanged */
    shmem_barrier(start, log_stride, size, sync_a);
}

/* PE 1 and later ones are in both sets; with separate arrays these need no synchronisation in between. */
static void overlap(void) {
    static long first[SHMEM_BARRIER_SYNC_SIZE], second[SHMEM_BARRIER_SYNC_SIZE];
    const int n = shmem_n_pes();
    for (int i = 0; i < 50; ++i) {
        if (in_set(0, 0, n - 1)) shmem_barrier(0, 0, n - 1, first);
        if (in_set(1, 0, n - 1)) shmem_barrier(1, 0, n - 1, second);
    }
}

int main(void) {
    shmem_init();
    const int n = shmem_n_pes();
    if (n > 1) overlap();
    for (int round = 0; round < 3; ++round) {
        use(0, 0, n);
        use(n - 1, 0, 1);
        use(0, 1, (n + 1) / 2);
        if (n > 1) use(1, 0, n - 1);
        if (n > 3) use(1, 1, (n - 1 + 1) / 2);
        if (n > 4) use(0, 2, (n + 3) / 4);
        shmem_barrier_all();
    }
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) CHECK(sync_a[i] == SHMEM_SYNC_VALUE);
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) CHECK(sync_b[i] == SHMEM_SYNC_VALUE);
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) CHECK(sync_c[i] == SHMEM_SYNC_VALUE);
    shmem_finalize();
    return 0;
}
