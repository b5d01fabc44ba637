/* Completion: by quiet of either kind of context, by sync, and by the barriers in allocation. */
#include "check.h"

enum { ROUNDS = 50 };

static long put_to, added, stored, fetched_from, payload, flags[2], results[2];
static uint64_t signal;
static int me, n, next;

/* PE 0 acts on PE n - 1 by everything that quiet completes; all others, informed by a flag, must see it. */
static void quiet_covers(shmem_ctx_t ctx) {
    const int target = n - 1;
    const long value = 5;
    put_to = added = stored = payload = flags[0] = 0;
    fetched_from = 40;
    signal = 0;
    shmem_barrier_all();
    if (me == 0) {
        results[0] = results[1] = -1;
        shmem_ctx_long_put_nbi(ctx, &put_to, &value, 1, target);
        shmem_ctx_long_atomic_add(ctx, &added, 6, target);
        shmem_ctx_long_put_signal_nbi(ctx, &payload, &value, 1, &signal, 7, SHMEM_SIGNAL_SET, target);
        shmem_ctx_long_get_nbi(ctx, &results[0], &fetched_from, 1, target);
        shmem_ctx_quiet(ctx);
        CHECK(results[0] == 40);
        shmem_ctx_long_atomic_fetch_add_nbi(ctx, &results[1], &fetched_from, 2, target);
        stored = 8; /* a plain store, into memory that others get */
        shmem_ctx_quiet(ctx);
        CHECK(results[1] == 40);
        for (int pe = 0; pe < n; ++pe) shmem_long_p(&flags[0], 1, pe);
    }
    shmem_long_wait_until(&flags[0], SHMEM_CMP_EQ, 1);
    CHECK(shmem_long_g(&put_to, target) == 5 && shmem_long_g(&added, target) == 6);
    CHECK(shmem_long_g(&payload, target) == 5 && shmem_uint64_g(&signal, target) == 7);
    CHECK(shmem_long_g(&fetched_from, target) == 42 && shmem_long_g(&stored, 0) == 8);
    shmem_barrier_all();
}

static void fence_orders_its_context(shmem_ctx_t ctx) {
    static long data[16], flag;
    flag = 0;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; ++round) {
        for (int i = 0; i < 16; ++i) shmem_ctx_long_p(ctx, &data[i], round, next);
        shmem_ctx_fence(ctx);
        shmem_ctx_long_p(ctx, &flag, round, next);
        shmem_ctx_quiet(ctx);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        for (int i = 0; i < 16; ++i) CHECK(data[i] >= round);
    }
    shmem_barrier_all();
}

/* A blocking put's source may be overwritten at once. */
static void the_source_is_free_again(void) {
    static long slots[ROUNDS][64];
    long source[64];
    for (long round = 0; round < ROUNDS; ++round) {
        for (int i = 0; i < 64; ++i) source[i] = round * 100 + i;
        shmem_long_put(slots[round], source, 64, next);
        memset(source, 0xff, sizeof source);
    }
    shmem_barrier_all();
    for (long round = 0; round < ROUNDS; ++round)
        for (int i = 0; i < 64; ++i) CHECK(slots[round][i] == round * 100 + i);
    shmem_barrier_all();
}

static void sync_completes_stores(void) {
    for (long round = 1; round <= ROUNDS; ++round) {
        stored = round;
        if (round % 2)
            shmem_sync_all();
        else
            shmem_team_sync(SHMEM_TEAM_WORLD);
        CHECK(shmem_long_g(&stored, next) == round);
        shmem_sync_all();
    }
}

/* On return from these a PE has synchronised with all others, whose earlier puts and stores are complete.
 */
static void met(long round) {
    for (int pe = 0; pe < n; ++pe) CHECK(shmem_long_g(&flags[1], pe) == round);
    CHECK(put_to == round);
    shmem_sync_all();
}
static void arrive(long round) {
    flags[1] = round;
    shmem_long_p(&put_to, round, next);
}
static void allocation_meets(void) {
    for (long round = 0; round < 6 * ROUNDS; round += 6) {
        arrive(round);
        long* block = shmem_malloc(64);
        met(round);
        arrive(round + 1);
        long* aligned = shmem_align(256, 64);
        met(round + 1);
        arrive(round + 2);
        long* zeroed = shmem_calloc(8, 8);
        shmem_long_p(&zeroed[1], round, next); /* not zeroed afterwards */
        met(round + 2);
        shmem_barrier_all();
        CHECK(zeroed[0] == 0 && zeroed[1] == round);
        arrive(round + 3);
        block = shmem_realloc(block, 100000);
        shmem_long_p(&block[1000], round, next); /* its owner has moved its contents */
        met(round + 3);
        shmem_barrier_all();
        CHECK(block[1000] == round);
        /* On entry: other PEs' puts before their call have arrived, and had when the block was freed. */
        shmem_long_p(aligned, round, next);
        arrive(round + 4);
        shmem_free(block);
        met(round + 4);
        CHECK(*aligned == round);
        shmem_free(aligned);
        shmem_free(zeroed);
    }
}

/* Contexts of different predefined teams, and waits, update and see the same words atomically. */
static void atomics_of_all_contexts(shmem_ctx_t ctx) {
    static unsigned long word;
    shmem_ctx_t shared;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_SHARED, SHMEM_CTX_NOSTORE, &shared) == 0);
    const int first = shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_SHARED);
    word = 0;
    shmem_barrier_all();
    for (int i = 0; i < 500; ++i) {
        shmem_ulong_atomic_add(&word, 1, 0);
        if (first >= 0)
            shmem_ctx_ulong_atomic_fetch_add(shared, &word, 1, first);
        else
            shmem_ulong_atomic_add(&word, 1, 0);
        shmem_ctx_ulong_atomic_inc(ctx, &word, 0);
    }
    shmem_quiet();
    shmem_ctx_quiet(shared);
    shmem_ctx_quiet(ctx);
    if (me == 0) shmem_ulong_wait_until(&word, SHMEM_CMP_GE, 1500ul * (unsigned long)n);
    shmem_barrier_all();
    CHECK(shmem_ulong_g(&word, 0) == 1500ul * (unsigned long)n);
    shmem_ctx_destroy(shared);
    shmem_barrier_all();
}

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (me + 1) % n;
    shmem_ctx_t ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    quiet_covers(SHMEM_CTX_DEFAULT);
    quiet_covers(ctx);
    fence_orders_its_context(SHMEM_CTX_DEFAULT);
    fence_orders_its_context(ctx);
    the_source_is_free_again();
    sync_completes_stores();
    allocation_meets();
    atomics_of_all_contexts(ctx);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
