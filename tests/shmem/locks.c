/* Locks, static and in the heap: one holder, whose effects the next one sees. */
#include "check.h"

static long lock, counter;

int main(void) {
    shmem_init();
    const int n = shmem_n_pes();
    for (int i = 0; i < 200; ++i) {
        shmem_set_lock(&lock);
        const long seen = shmem_long_g(&counter, 0);
        shmem_long_p(&counter, seen + 1, 0); /* clear_lock completes it */
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&counter, 0) == 200L * n);
    long* heap_lock = shmem_calloc(1, sizeof *heap_lock);
    static long tried;
    for (int done = 0; done < 20;) {
        if (shmem_test_lock(heap_lock) != 0) continue;
        shmem_long_p(&tried, shmem_long_g(&tried, 0) + 1, 0);
        shmem_clear_lock(heap_lock);
        ++done;
    }
    shmem_barrier_all();
    CHECK(shmem_long_g(&tried, 0) == 20L * n);
    if (shmem_my_pe() == 0) CHECK(shmem_test_lock(&lock) == 0);
    shmem_barrier_all();
    if (shmem_my_pe() != 0) CHECK(shmem_test_lock(&lock) != 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) shmem_clear_lock(&lock);
    shmem_free(heap_lock);
    shmem_finalize();
    return 0;
}
