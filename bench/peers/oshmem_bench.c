/* The rows of core.cpp in OpenSHMEM 1.4, for the peer's compiler: same operations, same harness, same order.
 */
#include <shmem.h>
#include <string.h>

#include "../harness.h"

/* With alternating roots, PEs may be up to n calls apart. OpenSHMEM 1.4 requires arrays that no earlier
 * call still uses. */
enum { KIB = 1024, MIB = 1024 * 1024, RING = 128 };

#ifndef BENCH_SIDE /* the library of this compiler */
#define BENCH_SIDE "openmpi"
#endif

static Bench bench;
static long *x, *flag, *src, *dst, *large_src, *large_dst;
static long broadcast_sync[RING][SHMEM_BCAST_SYNC_SIZE], reduce_sync[2][SHMEM_REDUCE_SYNC_SIZE];
static long reduce_work[2][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long* large_work;
static long round_number, calls;
static char *bytes_src, *bytes_dst;
static size_t bytes_now;

static void wrong(const char* what) {
    fprintf(stderr, "%s gave a wrong result, so its time means nothing\n", what);
    shmem_global_exit(1);
}

static void keep(long value) { __asm__ volatile("" ::"g"(value) : "memory"); }

static void put_quiet(void* unused, long repeats) {
    const long value = 1;
    long i;
    (void)unused;
    for (i = 0; bench.my_pe == 0 && i < repeats; ++i) {
        shmem_long_put(x, &value, 1, 1);
        shmem_quiet();
    }
}

static void p(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; bench.my_pe == 0 && i < repeats; ++i) shmem_long_p(x, i, 1);
    shmem_quiet();
}

static void get(void* unused, long repeats) {
    long i, fetched;
    (void)unused;
    for (i = 0; bench.my_pe == 0 && i < repeats; ++i) {
        shmem_long_get(&fetched, x, 1, 1);
        keep(fetched);
    }
}

static void atomic_fetch_add(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; bench.my_pe == 0 && i < repeats; ++i) keep(shmem_long_atomic_fetch_add(x, 1, 1));
}

static void flag_one_way(void* unused, long repeats) {
    const int peer = 1 - bench.my_pe;
    long i;
    (void)unused;
    for (i = 0; i < repeats; ++i) {
        ++round_number;
        if (bench.my_pe == 0) shmem_long_p(flag, round_number, peer);
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, round_number);
        if (bench.my_pe == 1) shmem_long_p(flag, round_number, peer);
    }
}

static void barrier_all(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; i < repeats; ++i) shmem_barrier_all();
}

static void sync_all(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; i < repeats; ++i) shmem_sync_all();
}

static void broadcast(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; i < repeats; ++i) {
        const int root = (int)(++round_number % bench.n_pes);
        const long turn = round_number % RING;
        if (bench.my_pe == root) src[turn] = round_number;
        shmem_broadcast64(dst + turn, src + turn, 1, root, 0, 0, bench.n_pes, broadcast_sync[turn]);
        if (bench.my_pe != root && ((volatile long*)dst)[turn] != round_number) wrong("broadcast");
    }
}

static void sum_reduce(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; i < repeats; ++i) {
        const int turn = ++calls & 1;
        *src = ++round_number;
        shmem_long_sum_to_all(dst, src, 1, 0, 0, bench.n_pes, reduce_work[turn], reduce_sync[turn]);
        if (*(volatile long*)dst != bench.n_pes * round_number) wrong("sum_reduce");
    }
}

static void write_large(void* unused, long index) {
    long i, sum = 0;
    (void)unused;
    for (i = 0; i < MIB / 8; ++i) large_src[i] = index + i;
    for (i = 0; i < MIB / 8; ++i) sum += large_dst[i];
    keep(sum);
}

static void broadcast_large(void* unused, long index) {
    const int root = (int)(index % bench.n_pes);
    (void)unused;
    shmem_broadcast64(large_dst, large_src, MIB / 8, root, 0, 0, bench.n_pes, broadcast_sync[index & 1]);
    if (bench.my_pe != root && ((volatile long*)large_dst)[7] != index + 7) wrong("broadcast");
}

static void sum_reduce_large(void* unused, long index) {
    (void)unused;
    shmem_long_sum_to_all(large_dst, large_src, MIB / 8, 0, 0, bench.n_pes, large_work,
                          reduce_sync[++calls & 1]);
    if (((volatile long*)large_dst)[7] != bench.n_pes * (index + 7)) wrong("sum_reduce");
}

static void put_bandwidth(void* unused, long repeats) {
    long i;
    (void)unused;
    for (i = 0; bench.my_pe == 0 && i < repeats; ++i) shmem_putmem(bytes_dst, bytes_src, bytes_now, 1);
}

/* 1.4 has no put_signal: a put, a fence and a flag. */
static void put_signal_read(void* unused, long repeats) {
    long i, sum;
    size_t k;
    (void)unused;
    for (i = 0; i < repeats; ++i) {
        ++round_number;
        if (bench.my_pe == 0) {
            shmem_putmem(bytes_dst, bytes_src, bytes_now, 1);
            shmem_fence();
            shmem_long_p(flag, round_number, 1);
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, round_number);
        } else {
            shmem_long_wait_until(flag, SHMEM_CMP_EQ, round_number);
            sum = 0;
            for (k = 0; k < bytes_now / 8; ++k) sum += ((long*)bytes_dst)[k];
            keep(sum);
            shmem_long_p(flag, round_number, 0);
        }
    }
}

static void pairs(void) {
    const long most = bench.quick ? 4 * MIB : 64L * MIB;
    long bytes;
    bench_measure(&bench, "put_quiet", 8, put_quiet, 0, 1, 1);
    bench_measure(&bench, "p", 8, p, 0, 1, 1);
    bench_measure(&bench, "get", 8, get, 0, 1, 1);
    bench_measure(&bench, "atomic_fetch_add", 8, atomic_fetch_add, 0, 1, 1);
    round_number = 0;
    shmem_barrier_all();
    bench_measure(&bench, "flag_one_way", 8, flag_one_way, 0, 1, 2);

    large_src = shmem_malloc(MIB);
    large_dst = shmem_malloc(MIB);
    large_work = shmem_malloc(MIB);
    memset(large_dst, 1, MIB);
    memset(large_work, 1, MIB);
    bench_measure_calls(&bench, "broadcast", MIB, write_large, broadcast_large, 0);
    bench_measure_calls(&bench, "sum_reduce", MIB, write_large, sum_reduce_large, 0);

    bytes_src = shmem_malloc((size_t)most);
    bytes_dst = shmem_malloc((size_t)most);
    memset(bytes_src, 2, (size_t)most);
    memset(bytes_dst, 1, (size_t)most);
    for (bytes = 64 * KIB; bytes <= most; bytes *= 4) {
        bytes_now = (size_t)bytes;
        bench_measure(&bench, "put_bandwidth", bytes, put_bandwidth, 0, 1, 1);
    }
    for (bytes = 64 * KIB; bytes <= (bench.quick ? MIB : 4 * MIB); bytes *= 4) {
        bytes_now = (size_t)bytes;
        bench_measure(&bench, "put_signal_read", bytes, put_signal_read, 0, 1, 1);
    }
}

static void store(double* word, double value, int pe) { shmem_double_p(word, value, pe); }
static void load(double* local, const double* there, long count, int pe) {
    shmem_double_get(local, there, (size_t)count, pe);
}

int main(int argc, char** argv) {
    int i, k;
    shmem_init();
    bench.side = BENCH_SIDE;
    bench.my_pe = shmem_my_pe();
    bench.n_pes = shmem_n_pes();
    bench.word = shmem_malloc(64);
    bench.stamps = shmem_malloc(2 * bench_most_calls * sizeof(double));
    bench.barrier = shmem_barrier_all;
    bench.store = store;
    bench.load = load;
    bench_options(&bench, argc, argv);
    for (k = 0; k < RING; ++k)
        for (i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) broadcast_sync[k][i] = SHMEM_SYNC_VALUE;
    for (k = 0; k < 2; ++k)
        for (i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) reduce_sync[k][i] = SHMEM_SYNC_VALUE;
    bench_memory(&bench);

    /* On separate cache lines, like Atoll's arrays. */
    x = shmem_align(64, 128);
    flag = shmem_align(64, 64);
    src = shmem_align(64, RING * sizeof(long));
    dst = shmem_align(64, RING * sizeof(long));
    *x = *flag = 0;
    memset(src, 0, RING * sizeof(long));
    memset(dst, 0, RING * sizeof(long));
    shmem_barrier_all();

    bench_measure(&bench, "barrier_all", 0, barrier_all, 0, 1, 1);
    bench_measure(&bench, "sync_all", 0, sync_all, 0, 1, 1);
    if (bench.n_pes > 1) {
        bench_measure(&bench, "broadcast", 8, broadcast, 0, bench.n_pes, 1);
        bench_measure(&bench, "sum_reduce", 8, sum_reduce, 0, 1, 1);
    }
    if (bench.n_pes == 2) pairs();
    shmem_finalize();
    return 0;
}
