/* A lock protects data that no single atomic can update. */

#include <shmem.h>
#include <stdio.h>

static long lock;
static struct { int count, sum; } account; /* PE 0's counts */

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < 10; ++i) {
        shmem_set_lock(&lock);
        int both[2];
        shmem_getmem(both, &account, sizeof both, 0);
        both[0] += 1;
        both[1] += me;
        shmem_putmem(&account, both, sizeof both, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    if (me == 0) printf("%d entries, sum %d\n", account.count, account.sum);
    const int wrong = me == 0 && (account.count != 10 * n || account.sum != 10 * n * (n - 1) / 2);
    shmem_finalize();
    return wrong;
}
