// A PE that calls barrier where the others reduce; the first comment of each call is what the test looks for.
#include <shmem.h>

static long sum, one = 1;

static void meet(void) {
    shmem_barrier_all();  // LINE barrier
}

static void add(void) {
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);  // LINE reduce
}

int main(void) {
    shmem_init();
    if (shmem_my_pe() == 0)
        meet();
    else
        add();
    shmem_finalize();
    return 0;
}
