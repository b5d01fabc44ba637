/* One PE of scaling.py, which reads the processes' memory from outside while they sleep between steps. Usage:
 * FOLDER STEP...; steps are init (always the first), memory, barrier, next, reduce, all. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char* folder;
static long *x, *sum;

/* The time of a clock that all PEs share. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reports the end of a step in a file, and sleeps until another file starts the next step. No function of the
 * job is used for it. */
static void rest(const char* step, double began, double ended) {
    char hidden[512], name[512];
    FILE* file;
    snprintf(hidden, sizeof hidden, "%s/.%s.%d", folder, step, shmem_my_pe());
    snprintf(name, sizeof name, "%s/%s.%d", folder, step, shmem_my_pe());
    file = fopen(hidden, "w");
    if (!file) shmem_global_exit(3);
    fprintf(file, "%d %.9f %.9f\n", (int)getpid(), began, ended);
    fclose(file);
    rename(hidden, name);
    snprintf(name, sizeof name, "%s/after.%s", folder, step);
    while (access(name, F_OK) != 0) usleep(20000);
}

static void step(const char* name) {
    const int me = shmem_my_pe(), n = shmem_n_pes();
    const long one = 1;
    if (strcmp(name, "memory") == 0) {
        x = (long*)shmem_calloc(1024, sizeof *x);
        sum = x + 8;
    } else if (strcmp(name, "barrier") == 0) {
        shmem_barrier_all();
    } else if (strcmp(name, "next") == 0) {
        shmem_long_put(x, &one, 1, (me + 1) % n);
        shmem_quiet();
    } else if (strcmp(name, "reduce") == 0) {
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, x, 1);
    } else if (strcmp(name, "all") == 0) {
        for (int i = 1; i < n; ++i) shmem_long_put(x + 16, &one, 1, (me + i) % n);
        shmem_quiet();
    } else {
        shmem_global_exit(2);
    }
}

int main(int argc, char** argv) {
    const double began = now();
    folder = argc > 1 ? argv[1] : ".";
    shmem_init();
    rest("init", began, now());
    for (int i = 2; i < argc; ++i) {
        const double start = now();
        step(argv[i]);
        rest(argv[i], start, now());
    }
    shmem_finalize();
    return 0;
}
