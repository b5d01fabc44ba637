/* Threads that store to static objects while shmem_init makes these symmetric lose none of their stores. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 2 };

static atomic_int stop, running;
static volatile long counts[THREADS][16];
static char filler[4u << 20];

static void* count(void* argument) {
    volatile long* mine = counts[*(int*)argument];
    long own = 0;
    atomic_fetch_add(&running, 1);
    while (!atomic_load(&stop)) {
        *mine = *mine + 1;
        ++own;
    }
    return (void*)(own == *mine ? NULL : argument);
}

int main(void) {
    static int numbers[THREADS] = {0, 1};
    pthread_t threads[THREADS];
    memset(filler, 1, sizeof filler);
    for (int t = 0; t < THREADS; ++t)
        if (pthread_create(&threads[t], NULL, count, &numbers[t]) != 0) return 2;
    while (atomic_load(&running) < THREADS) {
    }
    shmem_init();
    shmem_barrier_all();
    atomic_store(&stop, 1);
    void* lost[THREADS];
    for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], &lost[t]);
    for (int t = 0; t < THREADS; ++t) CHECK(lost[t] == NULL);
    CHECK(filler[1 << 20] == 1);
    shmem_finalize();
    return 0;
}
