/* Waits and tests: empty sets, excluded words, unsigned order, fairness, and that they order what they see.
 */
#include "check.h"

static uint64_t words[4], unsigned_word;
static int status[4], data[64];
static uint64_t signal;

static void empty_sets(void) {
    size_t indices[4];
    const int all_excluded[4] = {1, 1, 1, 1};
    for (int k = 0; k < 2; ++k) { /* no words, or none that counts */
        const size_t n = k == 0 ? 0 : 4;
        const int* excluded = k == 0 ? NULL : all_excluded;
        CHECK(shmem_uint64_wait_until_any(words, n, excluded, SHMEM_CMP_EQ, 9) == SIZE_MAX);
        CHECK(shmem_uint64_test_any(words, n, excluded, SHMEM_CMP_EQ, 9) == SIZE_MAX);
        CHECK(shmem_uint64_wait_until_some(words, n, indices, excluded, SHMEM_CMP_EQ, 9) == 0);
        CHECK(shmem_uint64_test_some(words, n, indices, excluded, SHMEM_CMP_EQ, 9) == 0);
        CHECK(shmem_uint64_test_all(words, n, excluded, SHMEM_CMP_EQ, 9) == 1);
        shmem_uint64_wait_until_all(words, n, excluded, SHMEM_CMP_EQ, 9);
    }
}

static void excluded_words(void) {
    size_t indices[4];
    words[1] = words[3] = 5;
    status[3] = 1;
    CHECK(shmem_uint64_wait_until_some(words, 4, indices, status, SHMEM_CMP_EQ, 5) == 1 && indices[0] == 1);
    CHECK(shmem_uint64_test_any(words, 4, status, SHMEM_CMP_EQ, 5) == 1);
    CHECK(shmem_uint64_test_all(words, 4, status, SHMEM_CMP_EQ, 5) == 0);
    const uint64_t wanted[4] = {0, 5, 0, 6};
    CHECK(shmem_uint64_test_all_vector(words, 4, status, SHMEM_CMP_EQ, wanted) == 1);
    status[3] = 0;
    CHECK(shmem_uint64_test_all_vector(words, 4, status, SHMEM_CMP_EQ, wanted) == 0);
}

static void every_word_has_its_turn(void) {
    int seen[4] = {0};
    for (int i = 0; i < 4; ++i) words[i] = 1;
    for (int i = 0; i < 1000; ++i) ++seen[shmem_uint64_wait_until_any(words, 4, NULL, SHMEM_CMP_EQ, 1)];
    for (int i = 0; i < 4; ++i) CHECK(seen[i] > 0);
}

static void order_is_of_the_type(void) {
    unsigned_word = UINT64_MAX;
    CHECK(shmem_uint64_test(&unsigned_word, SHMEM_CMP_GT, 1) == 1);
    CHECK(shmem_uint64_test(&unsigned_word, SHMEM_CMP_LT, 1) == 0);
    static int64_t signed_word;
    signed_word = -1;
    CHECK(shmem_int64_test(&signed_word, SHMEM_CMP_LT, 1) == 1);
    static unsigned short small;
    small = 65535;
    CHECK(shmem_ushort_test(&small, SHMEM_CMP_GE, 65535) == 1 &&
          shmem_ushort_test(&small, SHMEM_CMP_LE, 1) == 0);
}

static void a_signal_brings_its_data(void) {
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();
    const int prev = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    for (uint64_t round = 1; round <= 200; ++round) {
        int sent[64];
        for (int i = 0; i < 64; ++i) sent[i] = (int)round * 100 + shmem_my_pe();
        shmem_int_put_signal(data, sent, 64, &signal, round, SHMEM_SIGNAL_SET, next);
        CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_GE, round) == round);
        for (int i = 0; i < 64; ++i) CHECK(data[i] == (int)round * 100 + prev);
        shmem_barrier_all();
    }
    shmem_put_signal_nbi((int*)NULL, (int*)NULL, 0, &signal, 7, SHMEM_SIGNAL_ADD,
                         next); /* a put of 0 elements still signals */
    CHECK(shmem_signal_wait_until(&signal, SHMEM_CMP_NE, 200) == 207);
    CHECK(shmem_signal_fetch(&signal) == 207);
    shmem_barrier_all();
}

/* Flag and data by separate puts, ordered by fence; then by quiet, for a third PE. */
static void fence_and_quiet(void) {
    static long payload, flag, seen;
    const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    for (long round = 1; round <= 200; ++round) {
        shmem_long_p(&payload, round, next);
        shmem_fence();
        shmem_long_p(&flag, round, next);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        CHECK(payload >= round);
        shmem_barrier_all();
    }
    seen = 0;
    shmem_barrier_all();
    if (me == 0) {
        const long value = 11;
        shmem_long_put_nbi(&seen, &value, 1, n - 1);
        shmem_quiet();
        for (int pe = 0; pe < n; ++pe) shmem_long_p(&flag, -1, pe);
    }
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, -1);
    CHECK(shmem_long_g(&seen, n - 1) == 11);
    shmem_sync_all();
}

static void nothing_at_all(void) {
    shmem_int_put(NULL, NULL, 0, 0);
    shmem_getmem(NULL, NULL, 0, 0);
    shmem_long_iput(NULL, NULL, 1, 1, 0, 0);
    shmem_putmem_nbi(NULL, NULL, 0, 0);
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, NULL, NULL, 0) == 0);
    CHECK(shmem_broadcastmem(SHMEM_TEAM_WORLD, NULL, NULL, 0, 0) == 0);
}

int main(void) {
    shmem_init();
    empty_sets();
    excluded_words();
    every_word_has_its_turn();
    order_is_of_the_type();
    a_signal_brings_its_data();
    fence_and_quiet();
    nothing_at_all();
    shmem_finalize();
    return 0;
}
