/* The measuring code that both sides of a comparison share: C99 for the peers' compilers, and C++.
 *
 * A row is a function that repeats an operation. It is calibrated until a batch takes long enough for the
 * clock. Then it is timed batch by batch, with all PEs in step; PE 0 reports the median and the spread of the
 * batches. All PEs call everything here, in the same order. */
#ifndef ATOLL_BENCH_HARNESS_H
#define ATOLL_BENCH_HARNESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { bench_most_batches = 64, bench_most_calls = 512 };

typedef struct Bench {
    const char* side; /* "atoll", "openmpi" */
    int my_pe, n_pes;
    int quick;
    const char* const* only; /* operations whose names begin so; all if empty */
    int n_only;
    int n_rows;     /* reported by this PE */
    FILE* json;     /* PE 0: a line of JSON a row; may be null */
    double* stamps; /* symmetric: 2 * bench_most_calls times */
    double* word;   /* symmetric */
    void (*barrier)(void);
    void (*store)(double* symmetric, double value, int pe);
    void (*load)(double* local, const double* symmetric, long count, int pe);
} Bench;

typedef void (*BenchOperation)(void* argument, long repeats);
typedef void (*BenchCall)(void* argument, long index);

static inline double bench_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Returns PE 0's value on all PEs. */
static inline double bench_agree(Bench* b, double value) {
    int pe;
    b->barrier();
    if (b->my_pe == 0)
        for (pe = 0; pe < b->n_pes; ++pe) b->store(b->word, value, pe);
    b->barrier();
    return *(volatile double*)b->word;
}

static inline int bench_wanted(const Bench* b, const char* operation) {
    int i;
    for (i = 0; i < b->n_only; ++i)
        if (strncmp(operation, b->only[i], strlen(b->only[i])) == 0) return 1;
    return b->n_only == 0;
}

static inline int bench_compare(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static inline void bench_options(Bench* b, int argc, char** argv) {
    int i;
    const char** names = (const char**)calloc((size_t)argc + 1, sizeof *names);
    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--quick") == 0)
            b->quick = 1;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            ++i;
            if (b->my_pe != 0) continue;
            b->json = fopen(argv[i], "a");
            if (!b->json) perror(argv[i]);
        } else
            names[b->n_only++] = argv[i];
    }
    b->only = names;
}

/* Reports a row's batches; `unit` is the unit of a value: ns, kib. */
static inline void bench_report(Bench* b, const char* operation, long bytes, const char* unit,
                                double* batches, int n, long repeats) {
    double sorted[bench_most_batches], median, low, high;
    int i;
    b->n_rows += n != 0;
    if (b->my_pe != 0 || n == 0) return;
    memcpy(sorted, batches, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, bench_compare);
    median = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    low = sorted[n / 10];
    high = sorted[n - 1 - n / 10];
    printf("%-22s %9ld B %4d PEs %14.1f %s   (%.1f … %.1f)\n", operation, bytes, b->n_pes, median, unit, low,
           high);
    fflush(stdout);
    if (!b->json) return;
    fprintf(
        b->json,
        "{\"side\": \"%s\", \"op\": \"%s\", \"bytes\": %ld, \"pes\": %d, \"unit\": \"%s\", \"median\": %.3f, "
        "\"p10\": %.3f, \"p90\": %.3f, \"repeats\": %ld, \"batches\": [",
        b->side, operation, bytes, b->n_pes, unit, median, low, high, repeats);
    for (i = 0; i < n; ++i) fprintf(b->json, "%s%.2f", i ? ", " : "", batches[i]);
    fprintf(b->json, "]}\n");
    fflush(b->json);
}

static inline double bench_batch(Bench* b, BenchOperation run, void* argument, long repeats) {
    double start;
    b->barrier();
    start = bench_now_ns();
    run(argument, repeats);
    return bench_now_ns() - start;
}

/* Returns the number of repeats with which PE 0 is busy for a batch of `batch_ns`: at least `least`, and a
 * multiple of it. */
static inline long bench_calibrate(Bench* b, BenchOperation run, void* argument, double batch_ns,
                                   long least) {
    long repeats = least;
    for (;;) {
        double took = bench_batch(b, run, argument, repeats), again;
        int tries;
        /* The shortest of three, so that one disturbed batch does not shorten all others. */
        for (tries = 0; tries < 2; ++tries) {
            again = bench_batch(b, run, argument, repeats);
            if (again < took) took = again;
        }
        took = bench_agree(b, took);
        if (took >= 0.7 * batch_ns || repeats > 1L << 30) return repeats;
        /* At most tenfold a step towards the target: the first batches also pay for pages and caches. */
        double factor = took > 0 ? batch_ns / took : 10;
        if (factor > 10) factor = 10;
        if (factor < 1.5) factor = 1.5;
        repeats = (long)((double)repeats * factor / (double)least + 0.5) * least;
    }
}

static inline double bench_batch_ns(const Bench* b) {
    /* A batch of an oversubscribed job spans several turns of the scheduler. */
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (b->quick ? 1e6 : 4e6) * (b->n_pes > cores ? 5 : 1);
}
static inline int bench_batches(const Bench* b) { return b->quick ? 5 : 15; }

/* Measures `count` operations that alternate batch by batch, so that a disturbance affects all. A repeat
 * counts as `parts` operations: 2 for a ping-pong that is reported as one way. */
static inline void bench_measure_in_turn(Bench* b, int count, const char* const* names, long bytes,
                                         const BenchOperation* run, void* const* arguments, long least,
                                         double parts) {
    double* batches[8];
    long repeats[8];
    int i, k;
    for (k = 0; k < count; ++k) {
        repeats[k] = bench_calibrate(b, run[k], arguments[k], bench_batch_ns(b), least);
        batches[k] = (double*)calloc(bench_most_batches, sizeof(double));
    }
    for (i = 0; i < bench_batches(b); ++i)
        for (k = 0; k < count; ++k)
            batches[k][i] = bench_batch(b, run[k], arguments[k], repeats[k]) / ((double)repeats[k] * parts);
    b->barrier();
    for (k = 0; k < count; ++k) {
        bench_report(b, names[k], bytes, "ns", batches[k], bench_batches(b), repeats[k]);
        free(batches[k]);
    }
}

static inline void bench_measure(Bench* b, const char* name, long bytes, BenchOperation run, void* argument,
                                 long least, double parts) {
    if (bench_wanted(b, name)) bench_measure_in_turn(b, 1, &name, bytes, &run, &argument, least, parts);
}

/* Measures collective calls one by one, each after an untimed `prepare` and a barrier. The time lasts from
 * the first PE's call to the last PE's return, by the clock that the PEs of a host share. A batch is one
 * call. */
static inline void bench_measure_calls(Bench* b, const char* name, long bytes, BenchCall prepare,
                                       BenchCall call, void* argument) {
    const int n = b->quick ? 20 : 60, warm = 5;
    double* first = (double*)calloc(bench_most_calls, sizeof(double));
    double* last = (double*)calloc(bench_most_calls, sizeof(double));
    double* theirs = (double*)calloc(2 * bench_most_calls, sizeof(double));
    int i, pe;
    if (bench_wanted(b, name)) {
        for (i = 0; i < n + warm; ++i) {
            prepare(argument, i);
            b->barrier();
            b->stamps[2 * i] = bench_now_ns();
            call(argument, i);
            b->stamps[2 * i + 1] = bench_now_ns();
        }
        b->barrier();
        for (pe = 0; b->my_pe == 0 && pe < b->n_pes; ++pe) {
            b->load(theirs, b->stamps, 2 * (n + warm), pe);
            for (i = 0; i < n + warm; ++i) {
                if (pe == 0 || theirs[2 * i] < first[i]) first[i] = theirs[2 * i];
                if (pe == 0 || theirs[2 * i + 1] > last[i]) last[i] = theirs[2 * i + 1];
            }
        }
        for (i = 0; i < n; ++i) last[i] = last[i + warm] - first[i + warm];
        bench_report(b, name, bytes, "ns", last, n, 1);
        b->barrier();
    }
    free(first);
    free(last);
    free(theirs);
}

/* This process's proportional share of its resident memory, in KiB; -1 if the kernel does not report it. */
static inline double bench_pss_kib(void) {
    char line[256];
    long kib = -1;
    FILE* f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Pss: %ld kB", &kib) == 1) break;
    if (f) fclose(f);
    return (double)kib;
}

/* The mapped pages of shared files without a name (memfd, System V segments, /dev/shm), in KiB. Pages count
 * fully and once each, whichever process touched them. -1 if the kernel does not report them. */
static inline double bench_shared_kib(void) {
    char line[512], path[128];
    unsigned long begin, end, inode, seen[64];
    unsigned n_seen = 0, i;
    double kib = 0;
    struct stat status;
    FILE* f = fopen("/proc/self/maps", "r");
    if (!f) return -1;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) != 3 || inode == 0) continue;
        if (!strstr(line, "/memfd:") && !strstr(line, "/SYSV") && !strstr(line, "/dev/shm/") &&
            !strstr(line, "/dev/zero"))
            continue;
        for (i = 0; i < n_seen && seen[i] != inode; ++i) {
        }
        if (i < n_seen || n_seen == 64) continue;
        seen[n_seen++] = inode;
        snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", begin, end);
        if (stat(path, &status) != 0) {
            kib = -1;
            break;
        }
        kib += (double)status.st_blocks * 0.5;
    }
    fclose(f);
    return kib;
}

/* Memory a PE after initialisation, before the program allocates anything: call it first. The sum over the
 * PEs of their shares counts every page once. */
static inline void bench_memory(Bench* b) {
    double mine, total = 0, theirs;
    int pe;
    if (!bench_wanted(b, "memory")) return;
    b->barrier();
    mine = bench_pss_kib();
    *b->stamps = mine;
    b->barrier();
    for (pe = 0; b->my_pe == 0 && pe < b->n_pes; ++pe) {
        b->load(&theirs, b->stamps, 1, pe);
        total += theirs;
    }
    total /= b->n_pes;
    bench_report(b, "memory_pss", 0, "KiB", &total, 1, 1);
    mine = bench_shared_kib() / b->n_pes;
    bench_report(b, "memory_shared", 0, "KiB", &mine, 1, 1);
    b->barrier();
}

#endif
