/* Writes a line without flushing it, then waits for a value that never comes. */
#include <shmem.h>
#include <stdio.h>

static long never;

int main(void) {
    shmem_init();
    printf("PE %d is here\n", shmem_my_pe());
    shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
    shmem_finalize();
    return 0;
}
