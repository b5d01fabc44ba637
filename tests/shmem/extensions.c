/* shmemx.h, and names of shmem.h that are not in the specification. */
#include <shmemx.h>

#include "check.h"

static double number;
static float small;
static long source[64], dest[2];

static short flags[3];
static unsigned short counts[3];

/* All forms of one type; the right neighbour has set the words to 1, 2 and 3. */
#define WAIT_FOR_MANY(NAME, T, WORDS)                                                                  \
    static void NAME##_waits(void) {                                                                   \
        const T values[3] = {1, 2, 3}, others[3] = {1, 2, 4};                                          \
        const int without_last[3] = {0, 0, 1};                                                         \
        size_t at[3];                                                                                  \
        shmem_##NAME##_wait_until_all(WORDS, 3, NULL, SHMEM_CMP_GE, 1);                                \
        CHECK(shmem_##NAME##_wait_until_any(WORDS, 3, NULL, SHMEM_CMP_EQ, 2) == 1);                    \
        CHECK(shmem_##NAME##_wait_until_some(WORDS, 3, at, NULL, SHMEM_CMP_GT, 2) == 1 && at[0] == 2); \
        shmem_##NAME##_wait_until_all_vector(WORDS, 3, NULL, SHMEM_CMP_EQ, values);                    \
        CHECK(shmem_##NAME##_wait_until_any_vector(WORDS, 3, NULL, SHMEM_CMP_LT, others) == 2);        \
        CHECK(shmem_##NAME##_wait_until_some_vector(WORDS, 3, at, NULL, SHMEM_CMP_EQ, others) == 2);   \
        CHECK(!shmem_##NAME##_test_all(WORDS, 3, NULL, SHMEM_CMP_LT, 3));                              \
        CHECK(shmem_##NAME##_test_all(WORDS, 3, without_last, SHMEM_CMP_LT, 3));                       \
        CHECK(shmem_##NAME##_test_any(WORDS, 3, NULL, SHMEM_CMP_EQ, 9) == SIZE_MAX);                   \
        CHECK(shmem_##NAME##_test_some(WORDS, 3, at, without_last, SHMEM_CMP_NE, 9) == 2);             \
        CHECK(shmem_##NAME##_test_all_vector(WORDS, 3, NULL, SHMEM_CMP_EQ, values) == 1);              \
        CHECK(shmem_##NAME##_test_any_vector(WORDS, 3, NULL, SHMEM_CMP_NE, others) == 2);              \
        CHECK(shmem_##NAME##_test_some_vector(WORDS, 3, at, NULL, SHMEM_CMP_EQ, values) == 3);         \
    }
WAIT_FOR_MANY(short, short, flags)
WAIT_FOR_MANY(ushort, unsigned short, counts)

static void short_words(int me, int n) {
    for (int i = 0; i < 3; ++i) {
        shmem_short_p(&flags[i], (short)(i + 1), (me + 1) % n);
        shmem_ushort_p(&counts[i], (unsigned short)(i + 1), (me + 1) % n);
    }
    short_waits();
    ushort_waits();
#if __STDC_VERSION__ >= 201112L
    CHECK(shmem_test_all(flags, 3, NULL, SHMEM_CMP_GT, 0) &&
          shmem_test_all(counts, 3, NULL, SHMEM_CMP_GT, 0));
#endif
}

int main(void) {
    shmem_init();
    const int n = shmem_n_pes(), me = shmem_my_pe();
    shmemx_double_atomic_add(&number, 0.5, 0);
    shmemx_float_atomic_add(&small, 0.25f, 0);
    shmem_barrier_all();
    CHECK(shmem_double_g(&number, 0) == 0.5 * n && shmem_float_g(&small, 0) == 0.25f * (float)n);
    shmem_barrier_all();
    CHECK(shmemx_double_atomic_fetch_add(&number, 1, me) >= 0 &&
          shmemx_float_atomic_fetch_add(&small, 1, me) >= 0);
    for (int i = 0; i < 2 * n; ++i) source[i] = i + me;
    CHECK(shmemx_long_sum_reduce_scatter(SHMEM_TEAM_WORLD, dest, source, 2) == 0);
    for (int i = 0; i < 2; ++i) CHECK(dest[i] == (long)n * (2 * me + i) + (long)n * (n - 1) / 2);
    shmem_team_t team;
    CHECK(shmemx_team_split(SHMEM_TEAM_WORLD, me % 2, -me, &team) == 0); /* backwards */
    CHECK(shmem_team_n_pes(team) == (n + 1 - me % 2) / 2);
    CHECK(shmem_team_translate_pe(team, shmem_team_n_pes(team) - 1, SHMEM_TEAM_WORLD) == me % 2);
    shmem_team_destroy(team);
    CHECK(shmemx_team_split(SHMEM_TEAM_WORLD, -1, 0, &team) == 0 && team == SHMEM_TEAM_INVALID);
    static uint64_t id;
    if (me == 0) {
        CHECK(shmemx_team_get_unique_id(&id) == 0 && id != 0);
        for (int pe = 1; pe < n; ++pe) shmem_uint64_p(&id, id, pe);
    }
    shmem_barrier_all();
    if (me != 0 || n == 1) { /* PE 0 takes no part if there are others */
        const int members = n == 1 ? 1 : n - 1;
        CHECK(shmemx_team_init(id, members, n - 1 - me, &team) == 0); /* backwards */
        CHECK(shmem_team_n_pes(team) == members && shmem_team_my_pe(team) == n - 1 - me);
        CHECK(shmem_long_sum_reduce(team, dest, source, 1) == 0);
        shmem_team_destroy(team);
        CHECK(shmemx_team_init(id, members, n - 1 - me, &team) != 0 && team == SHMEM_TEAM_INVALID);
        CHECK(strstr(shmemx_last_error(), "each id makes one team") != NULL);
    }
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team) != 0);
    CHECK(strstr(shmemx_last_error(), "shmem_team_split_strided") != NULL);
    short_words(me, n);
    shmem_finalize();
    return 0;
}
