/* C11's generics: with and without a context, on const sources, and where a name is a function too. */
#include "check.h"

static long word, fetched;
static short small;
static double values[4], results[4];
static uint64_t signal;
static long sync_words[SHMEM_BARRIER_SYNC_SIZE];

int main(void) {
    shmem_init();
    const int n = shmem_n_pes(), next = (shmem_my_pe() + 1) % n;
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    const double constants[4] = {1, 2, 3, 4};
    const double* read_only = values;

    shmem_put(values, constants, 4, next);
    shmem_put(ctx, values, constants, 4, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    shmem_get(results, read_only, 4, next);
    CHECK(results[3] == 4);
    CHECK(shmem_g(read_only, next) == 1 && shmem_g(ctx, read_only + 1, next) == 2);
    shmem_p(values, 8.0, next);
    shmem_p(SHMEM_CTX_DEFAULT, values + 1, 9.0, next);
    shmem_barrier_all();
    CHECK(values[0] == 8 && values[1] == 9);
    const long* constant_word = &word;
    shmem_atomic_add(&word, 2L, next);
    shmem_atomic_inc(ctx, &word, next);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK(shmem_atomic_fetch(constant_word, next) == 3);
    CHECK(shmem_atomic_fetch(ctx, constant_word, next) == 3);
    shmem_atomic_fetch_nbi(&fetched, constant_word, next);
    shmem_quiet();
    CHECK(fetched == 3);
    shmem_signal_add(&signal, 2, next);
    shmem_signal_add(ctx, &signal, 3, next);
    CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_GE, 5) == 5);
    shmem_barrier_all();
    shmem_p(&small, (short)4, next);
    shmem_wait_until(&small, SHMEM_CMP_EQ, 4);
    CHECK(shmem_test(&small, SHMEM_CMP_GE, 4) == 1);
    shmem_barrier_all();
    CHECK(shmem_sync(SHMEM_TEAM_WORLD) == 0); /* by the number of arguments */
    shmem_sync(0, 0, n, sync_words);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, results, values, 2) == 0 && results[0] == 8.0 * n);
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, results, values, 2, 0) == 0 && results[1] == 9);
    CHECK(shmem_fadd(&word, 1L, shmem_my_pe()) >= 3);
    int (*function)(shmem_team_t) = shmem_team_sync; /* names stay functions */
    void (*wait)(long*, int, long) = (shmem_wait_until);
    CHECK(function(SHMEM_TEAM_WORLD) == 0 && wait != NULL);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
