/* Teams: members, their numbers, and the results of wrong ones. */
#include "check.h"

#include <shmemx.h>

static int me, n;

static void check_members(shmem_team_t team, int start, int stride, int size) {
    const int place =
        stride == 0 ? (me == start ? 0 : -1)
        : (me - start) % stride == 0 && (me - start) / stride >= 0 && (me - start) / stride < size
            ? (me - start) / stride
            : -1;
    if (place < 0) {
        CHECK(team == SHMEM_TEAM_INVALID);
        return;
    }
    CHECK(shmem_team_my_pe(team) == place && shmem_team_n_pes(team) == size);
    for (int i = 0; i < size; ++i) {
        CHECK(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD) == start + i * stride);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, start + i * stride, team) == i);
    }
    CHECK(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD) == -1);
    static long source, sum;
    source = me;
    CHECK(shmem_long_sum_reduce(team, &sum, &source, 1) == 0); /* usable at once */
    long expected = 0;
    for (int i = 0; i < size; ++i) expected += start + i * stride;
    CHECK(sum == expected);
    CHECK(shmem_team_sync(team) == 0);
}

static void strided(int start, int stride, int size) {
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team) == 0);
    check_members(team, start, stride, size);
    shmem_team_destroy(team);
    CHECK(shmem_team_my_pe(team) == -1 && shmem_team_n_pes(team) == -1); /* also of a destroyed one */
}

/* A destroyed handle: a status, never a crash. */
static void destroyed(void) {
    static long source, sum;
    const shmem_team_config_t config = {1};
    shmem_team_config_t seen;
    shmem_team_t team, other = SHMEM_TEAM_WORLD;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, &config, SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    shmem_team_destroy(team);
    CHECK(shmem_team_translate_pe(team, 0, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, team) == -1);
    CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &seen) != 0);
    CHECK(shmem_team_ptr(team, &sum, 0) == NULL);
    CHECK(shmem_team_create_ctx(team, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
    CHECK(shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &other) != 0 && other == SHMEM_TEAM_INVALID);
    if (getenv("ATOLL_CHECK") != NULL) return; /* with checks, the calls below would end the job */
    CHECK(shmem_team_sync(team) != 0);
    CHECK(shmem_long_sum_reduce(team, &sum, &source, 1) != 0);
    CHECK(shmem_long_broadcast(SHMEM_TEAM_INVALID, &sum, &source, 1, 0) != 0);
}

static void wrong_ones(void) {
    shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    shmem_team_config_t config = {5};
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0 &&
          team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team) != 0 &&
          team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, n, 1, 1, NULL, 0, &team) != 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 0, 2, NULL, 0, &team) != 0);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &other) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1);
    CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL) == 0);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
}

static void grid(int width) {
    shmem_team_t row, column;
    const shmem_team_config_t config = {3};
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, &config, SHMEM_TEAM_NUM_CONTEXTS, &row, NULL, 0,
                              &column) == 0);
    const int clamped = width < n ? width : n;
    const int x = me % clamped, y = me / clamped;
    const int last_row = (n - 1) / clamped;
    CHECK(shmem_team_my_pe(row) == x && shmem_team_my_pe(column) == y);
    CHECK(shmem_team_n_pes(row) == (y == last_row ? n - last_row * clamped : clamped));
    CHECK(shmem_team_n_pes(column) == last_row + (last_row * clamped + x < n));
    shmem_team_config_t seen = {-1};
    CHECK(shmem_team_get_config(row, SHMEM_TEAM_NUM_CONTEXTS, &seen) == 0 && seen.num_contexts == 3);
    CHECK(shmem_team_get_config(column, SHMEM_TEAM_NUM_CONTEXTS, &seen) == 0 && seen.num_contexts == 0);
    shmem_team_t inner;
    CHECK(shmem_team_split_strided(row, 0, 1, 1, NULL, 0, &inner) == 0); /* nested, with nothing in between */
    CHECK(shmem_team_n_pes(inner) == (x == 0 ? 1 : -1));
    shmem_team_destroy(inner);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
}

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    CHECK(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me);
    const int shared = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    CHECK(getenv("ATOLL_HOST_ID") ? shared < n : shared <= n);
    CHECK(shmem_team_n_pes(SHMEMX_TEAM_HOST) == shared && SHMEMX_TEAM_NODE == SHMEMX_TEAM_HOST);
    CHECK(shmem_team_n_pes(SHMEMX_TEAM_RAIL) >= 1 &&
          shmem_team_translate_pe(SHMEMX_TEAM_RAIL, shmem_team_my_pe(SHMEMX_TEAM_RAIL), SHMEM_TEAM_WORLD) ==
              me);
    if (shared == n) CHECK(shmem_team_n_pes(SHMEMX_TEAM_RAIL) == 1);
    CHECK(shmem_team_sync(SHMEMX_TEAM_RAIL) == 0 && shmem_team_sync(SHMEMX_TEAM_HOST) == 0);
    strided(0, 1, n);
    strided(n - 1, -1, n);
    strided(n - 1, 0, 1);
    strided(0, 2, (n + 1) / 2);
    if (n > 2) strided(n - 1, -2, n / 2);
    wrong_ones();
    destroyed();
    for (int width = 1; width <= n + 1; ++width) grid(width);
    shmem_finalize();
    return 0;
}
