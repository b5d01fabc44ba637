/* SHMEM_THREAD_MULTIPLE: threads share the default context, have separate ones, and synchronise on separate
 * teams. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 300 };

static long shared_sum, own_sum[THREADS], source[THREADS], dest[THREADS];
static shmem_team_t teams[THREADS];

static void* work(void* argument) {
    const int t = *(int*)argument;
    const int n = shmem_n_pes(), next = (shmem_my_pe() + 1) % n;
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    for (int i = 0; i < ROUNDS; ++i) {
        shmem_long_atomic_inc(&shared_sum, next);
        shmem_ctx_long_atomic_inc(ctx, &own_sum[t], next);
        if (i % 50 != 0) continue;
        source[t] = i + shmem_my_pe();
        CHECK(shmem_long_sum_reduce(teams[t], &dest[t], &source[t], 1) == 0);
        CHECK(dest[t] == (long)n * i + (long)n * (n - 1) / 2);
        shmem_quiet();
    }
    shmem_ctx_quiet(ctx);
    shmem_ctx_destroy(ctx);
    return NULL;
}

int main(void) {
    int provided = 0, numbers[THREADS];
    pthread_t threads[THREADS];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 && provided == SHMEM_THREAD_MULTIPLE);
    for (int t = 0; t < THREADS; ++t)
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &teams[t]) == 0);
    for (int t = 0; t < THREADS; ++t) {
        numbers[t] = t;
        CHECK(pthread_create(&threads[t], NULL, work, &numbers[t]) == 0);
    }
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
    shmem_barrier_all();
    CHECK(shared_sum == THREADS * ROUNDS);
    for (int t = 0; t < THREADS; ++t) CHECK(own_sum[t] == ROUNDS);
    shmem_finalize();
    return 0;
}
