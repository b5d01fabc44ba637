/* shmemx.h. */
#include <shmemx.h>

#include "check.h"

static double number;
static float small;
static long source[64], dest[2];

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
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n + 1, NULL, 0, &team) != 0);
    CHECK(strstr(shmemx_last_error(), "shmem_team_split_strided") != NULL);
    shmem_finalize();
    return 0;
}
