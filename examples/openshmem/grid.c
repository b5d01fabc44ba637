/* Rows and columns of a grid of PEs as teams: each adds up its own. */
#include <shmem.h>
#include <stdio.h>

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    shmem_team_t row = SHMEM_TEAM_INVALID, column = SHMEM_TEAM_INVALID;
    if (shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) != 0) shmem_global_exit(1);
    static int value, across, down;
    value = me;
    shmem_sum_reduce(row, &across, &value, 1);
    shmem_sum_reduce(column, &down, &value, 1);
    printf("PE %d is at (%d, %d): row %d, column %d\n", me, shmem_team_my_pe(row), shmem_team_my_pe(column),
           across, down);
    int expected = 0;
    for (int i = 0; i < shmem_team_n_pes(row); ++i)
        expected += shmem_team_translate_pe(row, i, SHMEM_TEAM_WORLD);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
    shmem_finalize();
    return across != expected;
}
