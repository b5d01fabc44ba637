/* Static objects are symmetric, keep their values from before init, and are private to a child after fork. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static long zeroed, valued = 5;
static char sparse[256u << 20];
static const long constants[3] = {1, 2, 3};
static long* const relocated = &valued;
static int me, n, next, prev;

static long resident_kib(void) {
    char line[200];
    long kib = 0;
    FILE* file = fopen("/proc/self/status", "r");
    while (kib == 0 && file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "VmRSS: %ld", &kib) != 1) kib = 0;
    }
    if (file) fclose(file);
    return kib;
}

static void operations(void) {
    static int in_function;
    shmem_int_p(&in_function, me + 1, next);
    shmem_long_atomic_add(&zeroed, me + 1, 0);
    shmem_barrier_all();
    CHECK(in_function == prev + 1);
    CHECK(shmem_long_g(&zeroed, 0) == (long)n * (n + 1) / 2);
    long got = 0;
    shmem_long_get(&got, &constants[1], 1, next); /* read-only ones can be read from */
    CHECK(got == 2 && *relocated == valued);
    long* heap = shmem_malloc(sizeof *heap);
    *heap = 0;
    shmem_barrier_all();
    shmem_long_put(heap, &valued, 1, next); /* mixed */
    shmem_barrier_all();
    CHECK(*heap == valued);
    static long sum;
    *heap = me;
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, heap, 1) == 0 && sum == (long)n * (n - 1) / 2);
    shmem_barrier_all();
    shmem_getmem(&sparse[200u << 20], &sum, sizeof sum, next);
    CHECK(memcmp(&sparse[200u << 20], &sum, sizeof sum) == 0);
    const long* there = shmem_ptr(&valued, next);
    CHECK(shmem_ptr(&valued, me) == &valued);
    CHECK(there ? *there == valued
                : shmem_team_translate_pe(SHMEM_TEAM_WORLD, next, SHMEM_TEAM_SHARED) == -1);
    CHECK(shmem_addr_accessible(&valued, next) == 1);
    shmem_free(heap);
}

static void children(void) {
    int status = -1, word = 0;
    const pid_t child = fork();
    if (child == 0) {
        valued = 99;
        sparse[1] = 1;
        _exit(valued == 99 && zeroed >= 0 ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(valued == 6 && sparse[1] == 0);
    CHECK(system("exit 3") == 3 << 8);
    FILE* pipe = popen("echo 42", "r");
    CHECK(pipe != NULL && fscanf(pipe, "%d", &word) == 1 && word == 42);
    pclose(pipe);
}

int main(void) {
    valued = 6;
    sparse[100u << 20] = 7;
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    next = (me + 1) % n;
    prev = (me + n - 1) % n;
    CHECK(valued == 6 && sparse[100u << 20] == 7 && sparse[5] == 0);
    operations();
    children();
    CHECK(resident_kib() < 128 * 1024); /* the rest of `sparse` was never touched */
    shmem_barrier_all();
    shmem_finalize();
    valued = 3;
    if (fork() == 0) {
        valued = 4;
        _exit(0);
    }
    wait(NULL);
    return valued == 3 ? 0 : 1;
}
