/* Programs that hang; the first argument is the fault. tests/shmem/test_hangs.py reads the marked lines. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, n;
static int token;
static long lock, best;

static void pass_token(void) {
    for (int lap = 1; lap <= 3; lap++) {
        if (me == 0) shmem_int_p(&token, lap, 1);
        shmem_int_wait_until(&token, SHMEM_CMP_EQ, lap);  // LINE token
        if (me != 0) shmem_int_p(&token, lap, me == 1 && lap == 2 ? 0 : (me + 1) % n);
    }
}

static void count_done(void) {
    long* done = shmem_calloc(1, sizeof *done);
    if (me != 2) shmem_long_atomic_inc(done, 0);
    if (me == 0) shmem_long_wait_until(done, SHMEM_CMP_EQ, n);  // LINE done
}

static void set_flags(void) {
    int* ready = shmem_calloc(n, sizeof *ready);  // LINE flags
    const int one = 1;
    for (int pe = 0; pe < n; pe++) shmem_int_put(ready + (me == 2 ? me - 1 : me), &one, 1, pe);
    for (int pe = 0; pe < n; pe++) shmem_int_wait_until(ready + pe, SHMEM_CMP_EQ, 1);  // LINE ready
}

static void offer(long value) {
    shmem_set_lock(&lock);  // LINE lock
    if (value <= shmem_long_g(&best, 0)) return;
    shmem_long_p(&best, value, 0);
    shmem_clear_lock(&lock);
}

static void keep_lock(void) {
    if (me == 0) offer(0);
    shmem_barrier_all();
    if (me != 0) offer(1);
}

static void return_credits(void) {
    uint64_t *full = shmem_calloc(1, sizeof *full), *credits = shmem_calloc(1, sizeof *credits);
    long* slots = shmem_calloc(4, sizeof *slots);
    for (long i = 0; i < 8; i++) {
        if (me == 0) {
            if (i >= 4) shmem_signal_wait_until(credits, SHMEM_CMP_GE, (uint64_t)(i - 3));  // LINE credits
            shmem_long_put_signal(slots + i % 4, &i, 1, full, (uint64_t)i + 1, SHMEM_SIGNAL_SET, 1);
        } else if (me == 1) {
            shmem_signal_wait_until(full, SHMEM_CMP_GE, (uint64_t)i + 1);
            shmem_uint64_atomic_inc(credits, i == 0 ? 0 : 2);
        }
    }
}

static void test_in_a_loop(void) {
    while (me == 0 && !shmem_int_test(&token, SHMEM_CMP_EQ, 1)) continue;  // LINE test
}

static void leave_out_sync(void) {
    shmem_team_t team;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, n - 1, NULL, 0, &team);
    if (me == 1 || me == 2) shmem_team_sync(team);  // LINE sync
}

/* A ring of more rounds than the first moves that are noted. */
static void skip_late(void) {
    enum { rounds = 6000, skipped = 5000 };
    long* flag = shmem_calloc(1, sizeof *flag);
    for (long round = 1; round <= rounds; round++) {
        usleep(1); /* time of a program that computes: of denser calls only the first are recorded */
        if (me != 2 || round < skipped) shmem_long_p(flag, round, (me + 1) % n);
        shmem_long_wait_until(flag, SHMEM_CMP_GE, round);  // LINE late
    }
}

/* Counters of a binary tree; the last PE leaves out the last round. */
static void climb_tree(void) {
    long *up = shmem_calloc(1, sizeof *up), *down = shmem_calloc(1, sizeof *down);
    const int children = (2 * me + 1 < n) + (2 * me + 2 < n);
    for (long round = 1; round <= 3 && (me != n - 1 || round < 3); round++) {
        if (children) shmem_long_wait_until(up, SHMEM_CMP_GE, children * round);  // LINE up
        if (me) shmem_long_atomic_inc(up, (me - 1) / 2);
        if (me) shmem_long_wait_until(down, SHMEM_CMP_GE, round);
        for (int child = 2 * me + 1; child <= 2 * me + 2 && child < n; child++)
            shmem_long_atomic_inc(down, child);
    }
}

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    shmem_init();
    me = shmem_my_pe();
    n = shmem_n_pes();
    if (strcmp(argv[1], "token") == 0) pass_token();
    if (strcmp(argv[1], "done") == 0) count_done();
    if (strcmp(argv[1], "flags") == 0) set_flags();
    if (strcmp(argv[1], "lock") == 0) keep_lock();
    if (strcmp(argv[1], "credits") == 0) return_credits();
    if (strcmp(argv[1], "test") == 0) test_in_a_loop();
    if (strcmp(argv[1], "sync") == 0) leave_out_sync();
    if (strcmp(argv[1], "late") == 0) skip_late();
    if (strcmp(argv[1], "tree") == 0) climb_tree();
    shmem_barrier_all();  // LINE end
    shmem_finalize();
    return 0;
}
