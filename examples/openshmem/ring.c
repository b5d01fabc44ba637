/* A token goes round the ring: data and signal in one call, into static memory. */
#include <shmem.h>
#include <stdio.h>

static long token;
static uint64_t arrived;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    if (me == 0) shmem_long_put_signal(&token, &(long){1}, 1, &arrived, 1, SHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
    const long mine = token;
    if (me != 0) shmem_long_put_signal(&token, &(long){mine + 1}, 1, &arrived, 1, SHMEM_SIGNAL_SET, next);
    printf("PE %d saw %ld\n", me, mine);
    const int wrong = mine != (me == 0 ? n : me);
    shmem_finalize();
    return wrong;
}
