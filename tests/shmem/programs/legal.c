/* Every difference between PEs that the rules allow. PEs of this program and of legal.py meet in one job. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            shmem_global_exit(2);                                           \
        }                                                                   \
    } while (0)

enum { most_pes = 8, block = 4 };
static long sync_words[SHMEM_REDUCE_SYNC_SIZE], barrier_words[SHMEM_BARRIER_SYNC_SIZE];
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + block];
static long from[block * most_pes], to[block * most_pes];

/* One call by the names that this PE's number selects: they move the same bytes. */
static void typed_beside_untyped(int me, int n) {
    for (int i = 0; i < block * n; ++i) from[i] = 100 * me + i;
    switch (me % 3) {
        case 0:
            shmem_long_fcollect(SHMEM_TEAM_WORLD, to, from, block);
            shmem_long_broadcast(SHMEM_TEAM_WORLD, to, from, block, 0);
            shmem_long_alltoall(SHMEM_TEAM_WORLD, to, from, block);
            shmem_long_collect(SHMEM_TEAM_WORLD, to, from, block);
            break;
        case 1:
            shmem_fcollectmem(SHMEM_TEAM_WORLD, to, from, 8 * block);
            shmem_broadcastmem(SHMEM_TEAM_WORLD, to, from, 8 * block, 0);
            shmem_alltoallmem(SHMEM_TEAM_WORLD, to, from, 8 * block);
            shmem_collectmem(SHMEM_TEAM_WORLD, to, from, 8 * block);
            break;
        default:
            shmem_double_fcollect(SHMEM_TEAM_WORLD, (double*)to, (double*)from, block);
            shmem_int_broadcast(SHMEM_TEAM_WORLD, (int*)to, (int*)from, 2 * block, 0);
            shmem_float_alltoall(SHMEM_TEAM_WORLD, (float*)to, (float*)from, 2 * block);
            shmem_short_collect(SHMEM_TEAM_WORLD, (short*)to, (short*)from, 4 * block);
    }
    for (int i = 0; i < block * n; ++i) CHECK(to[i] == 100 * (i / block) + i % block);
}

/* Calls the deprecated collectives for one element size, over all PEs and over every second PE. */
static void active_sets(int me, int n) {
    shmem_barrier_all();
    if (me % 2 == 0)
        shmem_fcollect64(to, from, block, 0, 0, n, sync_words);
    else
        shmem_fcollect32(to, from, 2 * block, 0, 0, n, sync_words);
    shmem_barrier_all();
    if (me % 2 == 0) {
        shmem_barrier(0, 1, (n + 1) / 2, barrier_words);
        shmem_long_sum_to_all(to, from, block, 0, 1, (n + 1) / 2, work, sync_words);
    }
    shmem_barrier_all();
}

/* Sizes of none with any pointer, and of collect with any size. */
static void zero_sizes(int me, int n) {
    shmem_long_fcollect(SHMEM_TEAM_WORLD, me == 0 ? NULL : to, me == 1 ? NULL : from, 0);
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, me == 0 ? NULL : (double*)to, (double*)from, 0);
    shmem_broadcastmem(SHMEM_TEAM_WORLD, me == 0 ? NULL : to, from, 0, 0);
    shmem_alltoallmem(SHMEM_TEAM_WORLD, NULL, NULL, 0);
    shmem_long_collect(SHMEM_TEAM_WORLD, to, me == 0 ? NULL : from, (size_t)(me % (block + 1)));
    long all = 0;
    for (int pe = 0; pe < n; ++pe)
        for (int i = 0; i < pe % (block + 1); ++i) CHECK(to[all++] == 100 * pe + i);
}

/* In step with legal.py: the same meetings, in the same order. */
static void beside_python(int n) {
    long* const x = shmem_malloc(sizeof(long) * block);
    long* const all = shmem_malloc(sizeof(long) * block * most_pes);
    for (int i = 0; i < block; ++i) x[i] = shmem_my_pe() + 1;
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, all, x, block);
    CHECK(all[block - 1] == n * (n + 1) / 2);
    shmem_double_fcollect(SHMEM_TEAM_WORLD, (double*)all, (double*)x, block);
    for (int i = 0; i < block * n; ++i) CHECK(all[i] == i / block + 1);
    shmem_broadcastmem(SHMEM_TEAM_WORLD, all, x, sizeof(long) * block, n - 1);
    shmem_short_alltoall(SHMEM_TEAM_WORLD, (short*)all, (short*)all, 0);
    shmem_long_collect(SHMEM_TEAM_WORLD, all, x, (size_t)(shmem_my_pe() % 2));
    shmem_float_max_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0);
    shmem_team_t team;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team) == 0);
    shmem_team_sync(team);
    shmem_sync_all();
    shmem_free(all);
    shmem_free(x);
}

int main(int argc, char** argv) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    CHECK(n <= most_pes);
    if (argc > 1 && argv[1][0] == 'p')
        beside_python(n);
    else
        for (int round = 0; round < 3; ++round) {
            typed_beside_untyped(me, n);
            active_sets(me, n);
            zero_sizes(me, n);
            shmem_barrier_all();
        }
    shmem_finalize();
    return 0;
}
