/* A PE that ends as selected by the first argument. */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int arrived;
static long lock;
static volatile int spins;

static void meet_without_barrier(void) {
    shmem_int_atomic_inc(&arrived, 0);
    if (shmem_my_pe() == 0) shmem_int_wait_until(&arrived, SHMEM_CMP_GE, shmem_n_pes());
}

int main(int argc, char** argv) {
    const char* way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "never") == 0) return 0;
    if (strcmp(way, "bad size") == 0) {
        int provided;
        const int status = shmem_init_thread(SHMEM_THREAD_SINGLE, &provided);
        printf("status %d\n", status != 0);
        return 0;
    }
    shmem_init();
    const int me = shmem_my_pe();
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    printf("PE %d was here\n", me); /* stays in the buffer */
    if (strcmp(way, "global_exit") == 0) {
        meet_without_barrier();
        if (me == 0) shmem_global_exit(atoi(argv[2]));
        if (me == 1)
            for (;;) ++spins; /* busy, and never in the library again */
        shmem_barrier_all();
    }
    if (strcmp(way, "no finalize") == 0) return 0;
    if (strcmp(way, "one leaves") == 0 && me == 1) return 0;
    if (strcmp(way, "crash in lock") == 0) {
        if (me == 1) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me == 1) abort();
        shmem_set_lock(&lock);
    }
    if (strcmp(way, "killed in barrier") == 0 && me == 1) raise(SIGKILL);
    if (strcmp(way, "failed split") == 0) {
        shmem_team_t team;
        if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes() + 1, NULL, 0, &team) == 0)
            return 3;
    }
    if (strcmp(way, "heap") == 0)
        printf("%d %d\n", shmem_malloc((size_t)atol(argv[2])) != NULL,
               shmem_malloc((size_t)atol(argv[3])) != NULL);
    if (strcmp(way, "not symmetric") == 0) {
        long local = 0, value = 1;
        shmem_long_put(&local, &value, 1, 0);
    }
    if (strcmp(way, "no such PE") == 0) shmem_long_p(&lock, 1, shmem_n_pes());
    if (strcmp(way, "overlap") == 0) {
        static long words[4];
        shmem_long_put(words, words + 1, 2, me);
    }
    if (strcmp(way, "misaligned") == 0) {
        static char bytes[32];
        shmem_long_atomic_inc((long*)(void*)(bytes + 1), 0);
    }
    if (strcmp(way, "different calls") == 0) {
        static long source[2], dest[2];
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, me == 0 ? 1 : 2);
    }
    if (strcmp(way, "one does not come back") == 0) {
        shmem_finalize();
        if (me == 1) return 0;
        shmem_init();
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
