/* Measures single operations between two PEs on different hosts: one source for both sides, built with each
 * one's oshcc; network.py runs it. Usage: [--quick] [--json FILE] [NAMES...]. */
#include <shmem.h>
#include <string.h>

#include "../harness.h"

#ifndef BENCH_SIDE /* the library of this compiler */
#define BENCH_SIDE "openmpi"
#endif

enum { KIB = 1024, MIB = 1024 * 1024, MOST = MIB };

static Bench bench;
static long *x, *flag, *rest, rests;
static char *src, *dst;
static size_t bytes_now;
static long turn;

/* One-sided operations: PE 0 makes them. PE 1 waits for a word, as programs do, rather than in the barrier
 * that ends a batch. */
static int works(void) {
    ++rests;
    if (bench.my_pe == 1) shmem_long_wait_until(rest, SHMEM_CMP_GE, rests);
    return bench.my_pe == 0;
}

static void done(void) {
    if (bench.my_pe != 0) return;
    shmem_quiet();
    shmem_long_p(rest, rests, 1);
}

static void put_quiet(void* unused, long repeats) {
    const long value = 1;
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) {
        shmem_long_put(x, &value, 1, 1);
        shmem_quiet();
    }
    done();
}

static void p(void* unused, long repeats) {
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) shmem_long_p(x, i, 1);
    done();
}

static void get(void* unused, long repeats) {
    long value;
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) shmem_long_get(&value, x, 1, 1);
    done();
}

static void fetch_add(void* unused, long repeats) {
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) shmem_long_atomic_fetch_add(x, 1, 1);
    done();
}

/* Eight bytes and their signal; without such a call, the signal alone, which is less. */
static void put_signal(void* unused, long repeats) {
    (void)unused;
    for (long i = 0; i < repeats; ++i) {
        ++turn;
        if (bench.my_pe == 1) shmem_long_wait_until(flag, SHMEM_CMP_GE, turn);
#ifdef BENCH_HAS_SIGNALS
        shmem_putmem_signal(x, src, 8, (uint64_t*)flag, (uint64_t)turn, SHMEM_SIGNAL_SET, 1 - bench.my_pe);
#else
        shmem_long_p(flag, turn, 1 - bench.my_pe);
#endif
        if (bench.my_pe == 0) shmem_long_wait_until(flag, SHMEM_CMP_GE, turn);
    }
}

static void barrier(void* unused, long repeats) {
    (void)unused;
    for (long i = 0; i < repeats; ++i) shmem_barrier_all();
}

static void put_bytes(void* unused, long repeats) {
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) {
        shmem_putmem(dst, src, bytes_now, 1);
        shmem_quiet();
    }
    done();
}

static void put_stream(void* unused, long repeats) {
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) shmem_putmem(dst, src, bytes_now, 1);
    done();
}

static void get_bytes(void* unused, long repeats) {
    const int mine = works();
    (void)unused;
    for (long i = 0; mine && i < repeats; ++i) shmem_getmem(src, dst, bytes_now, 1);
    done();
}

static void store(double* symmetric, double value, int pe) { shmem_double_p(symmetric, value, pe); }
static void load(double* local, const double* symmetric, long count, int pe) {
    shmem_double_get(local, symmetric, (size_t)count, pe);
}

int main(int argc, char** argv) {
    const long sizes[] = {8, 4 * KIB, 64 * KIB, MIB};
    shmem_init();
    bench.side = BENCH_SIDE;
    bench.my_pe = shmem_my_pe();
    bench.n_pes = shmem_n_pes();
    bench.barrier = shmem_barrier_all;
    bench.store = store;
    bench.load = load;
    bench.stamps = (double*)shmem_malloc(2 * bench_most_calls * sizeof(double));
    bench.word = (double*)shmem_malloc(64);
    bench_options(&bench, argc, argv);
    x = (long*)shmem_malloc(4096);
    flag = x + 64;
    rest = x + 128;
    src = (char*)shmem_malloc(MOST);
    dst = (char*)shmem_malloc(MOST);
    memset(src, 1, MOST);
    memset(dst, 2, MOST);
    memset(x, 0, 4096);
    shmem_barrier_all();

    if (bench.n_pes >= 2) {
        bench_measure(&bench, "put_quiet", 8, put_quiet, NULL, 1, 1);
        bench_measure(&bench, "p", 8, p, NULL, 1, 1);
        bench_measure(&bench, "get", 8, get, NULL, 1, 1);
        bench_measure(&bench, "fetch_add", 8, fetch_add, NULL, 1, 1);
        if (bench.n_pes == 2) bench_measure(&bench, "signal_one_way", 8, put_signal, NULL, 1, 2);
        for (int i = 1; i < 4; ++i) {
            bytes_now = (size_t)sizes[i];
            bench_measure(&bench, "put_bytes", sizes[i], put_bytes, NULL, 1, 1);
            bench_measure(&bench, "put_stream", sizes[i], put_stream, NULL, 1, 1);
            bench_measure(&bench, "get_bytes", sizes[i], get_bytes, NULL, 1, 1);
        }
    }
    bench_measure(&bench, "barrier", 0, barrier, NULL, 1, 1);
    shmem_finalize();
    return 0;
}
