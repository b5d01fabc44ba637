/* Random numbers counted in a histogram that is distributed over the PEs, by atomic additions. */
#include <shmem.h>
#include <stdio.h>

enum { BINS = 16, DRAWS = 10000 };

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    unsigned long* bins = shmem_calloc(BINS, sizeof *bins); /* bin b of the whole is bin b / n on PE b % n */
    uint32_t random = 12345u + (uint32_t)me;
    for (int i = 0; i < DRAWS; ++i) {
        random = random * 1664525u + 1013904223u;
        const int bin = (int)(random >> 16) % (BINS * n);
        shmem_atomic_inc(&bins[bin / n], bin % n);
    }
    shmem_barrier_all();
    static unsigned long mine, all;
    for (int b = 0; b < BINS; ++b) mine += bins[b];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    if (me == 0) printf("%lu numbers, %lu of them here\n", all, mine);
    shmem_free(bins);
    shmem_finalize();
    return all != (unsigned long)DRAWS * (unsigned long)n;
}
