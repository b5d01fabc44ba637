/* One check per operation, for each of its typed names: generate.py prints the calls. Each test begins with
 * zeroed areas, synchronises, acts on the next PE (or on all), completes both contexts, synchronises, and
 * checks the received data. The areas are in the heap the first time and static the second. */
#ifndef ATOLL_TESTS_SHMEM_SWEEP_H
#define ATOLL_TESTS_SHMEM_SWEEP_H

#include <complex.h>
#include <sched.h>

#include "check.h"

enum { N = 8, AREA_BYTES = 4096 };

static char static_dest[AREA_BYTES] __attribute__((aligned(64)));
static char static_source[AREA_BYTES] __attribute__((aligned(64)));
static char work[AREA_BYTES] __attribute__((aligned(64), unused));
static uint64_t static_signal;
static long psync[SHMEM_REDUCE_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE];

static void *dest, *source;
static uint64_t* signal_word;
static int me, n_pes, next, prev;
static shmem_ctx_t ctx;

static inline void complete(void) {
    shmem_quiet();
    shmem_ctx_quiet(ctx);
}
static inline void begin(void) {
    memset(dest, 0, AREA_BYTES);
    memset(source, 0, AREA_BYTES);
    *signal_word = 0;
}
static inline void meet(void) { shmem_barrier_all(); }
static inline void end(void) {
    complete();
    shmem_barrier_all();
}

#define CTX ctx,
#define NOCTX
#define D(T) ((T*)dest)
#define S(T) ((T*)source)
#define VALUE(T, pe, i) ((T)((pe)*10 + (i) + 1))
#define EXPECT(F, condition)                                                         \
    do {                                                                             \
        if (!(condition)) {                                                          \
            fprintf(stderr, "PE %d of %d, %s memory: %s: wrong: %s\n", me, n_pes,    \
                    dest == (void*)static_dest ? "static" : "heap", #F, #condition); \
            shmem_global_exit(1);                                                    \
        }                                                                            \
    } while (0)
#define TEST(T, F, ACT, LOOK)                                  \
    do {                                                       \
        begin();                                               \
        for (int i = 0; i < N; ++i) S(T)[i] = VALUE(T, me, i); \
        meet();                                                \
        ACT;                                                   \
        end();                                                 \
        LOOK;                                                  \
    } while (0)
#define ALL(F, count, condition) \
    for (int i = 0; i < (count); ++i) EXPECT(F, condition)

/* ---- remote memory access */
#define SWEEP_PUT(T, F, C) TEST(T, F, F(C D(T), S(T), N, next), ALL(F, N, D(T)[i] == VALUE(T, prev, i)))
#define SWEEP_GET(T, F, C) TEST(T, F, F(C D(T), S(T), N, next), ALL(F, N, D(T)[i] == VALUE(T, next, i)))
#define SWEEP_P(T, F, C) TEST(T, F, F(C D(T), VALUE(T, me, 3), next), EXPECT(F, D(T)[0] == VALUE(T, prev, 3)))
#define SWEEP_G(T, F, C) TEST(T, F, EXPECT(F, F(C S(T) + 1, next) == VALUE(T, next, 1)), (void)0)
#define SWEEP_IPUT(T, F, C)                        \
    TEST(T, F, F(C D(T), S(T), 2, 1, N / 2, next), \
         ALL(F, N / 2, D(T)[2 * i] == VALUE(T, prev, i) && D(T)[2 * i + 1] == (T)0))
#define SWEEP_IGET(T, F, C)                        \
    TEST(T, F, F(C D(T), S(T), 1, 2, N / 2, next), \
         ALL(F, N / 2, D(T)[i] == VALUE(T, next, 2 * i) && D(T)[N / 2 + i] == (T)0))
#define SWEEP_IBPUT(T, F, C)                      \
    TEST(T, F, F(C D(T), S(T), 3, 2, 2, 3, next), \
         ALL(F, 6, D(T)[i / 2 * 3 + i % 2] == VALUE(T, prev, i) && D(T)[i / 2 * 3 + 2] == (T)0))
#define SWEEP_IBGET(T, F, C) \
    TEST(T, F, F(C D(T), S(T), 2, 3, 2, 2, next), ALL(F, 4, D(T)[i] == VALUE(T, next, i / 2 * 3 + i % 2)))
#define SWEEP_PUT_SIGNAL(T, F, C)                                                                \
    TEST(T, F, F(C D(T), S(T), N, signal_word, (uint64_t)me + 1, SHMEM_SIGNAL_SET, next);        \
         EXPECT(F, shmem_signal_wait_until(signal_word, SHMEM_CMP_NE, 0) == (uint64_t)prev + 1); \
         ALL(F, N, D(T)[i] == VALUE(T, prev, i)),                                                \
         EXPECT(F, shmem_signal_fetch(signal_word) == (uint64_t)prev + 1))
#define SWEEP_SIGNAL(T, F, C) \
    TEST(T, F, F(C signal_word, (uint64_t)me + 1, next), EXPECT(F, *signal_word == (uint64_t)prev + 1))

/* ---- atomics; FIVE: the target is 5 initially */
#define FIVE(T, F, ACT, LOOK)      \
    do {                           \
        begin();                   \
        S(T)[0] = VALUE(T, me, 0); \
        D(T)[0] = (T)5;            \
        T old = (T)0;              \
        meet();                    \
        ACT;                       \
        end();                     \
        LOOK;                      \
        (void)old;                 \
    } while (0)
#define ARRIVED(T, F) EXPECT(F, D(T)[0] == VALUE(T, prev, 0))
#define SWEEP_FETCH(T, F, C) FIVE(T, F, EXPECT(F, F(C S(T), next) == VALUE(T, next, 0)), (void)0)
#define SWEEP_FETCH_NBI(T, F, C) FIVE(T, F, F(C& old, S(T), next), EXPECT(F, old == VALUE(T, next, 0)))
#define SWEEP_SET(T, F, C) FIVE(T, F, F(C D(T), VALUE(T, me, 0), next), ARRIVED(T, F))
#define SWEEP_SWAP(T, F, C) \
    FIVE(T, F, old = F(C D(T), VALUE(T, me, 0), next), EXPECT(F, old == (T)5); ARRIVED(T, F))
#define SWEEP_SWAP_NBI(T, F, C) \
    FIVE(T, F, F(C& old, D(T), VALUE(T, me, 0), next), EXPECT(F, old == (T)5); ARRIVED(T, F))
#define SWEEP_CSWAP(T, F, C)                                 \
    FIVE(T, F, old = F(C D(T), (T)5, VALUE(T, me, 0), next); \
         EXPECT(F, F(C D(T), (T)5, (T)99, next) == VALUE(T, me, 0)), EXPECT(F, old == (T)5); ARRIVED(T, F))
#define SWEEP_CSWAP_NBI(T, F, C) \
    FIVE(T, F, F(C& old, D(T), (T)5, VALUE(T, me, 0), next), EXPECT(F, old == (T)5); ARRIVED(T, F))
#define ON_FIRST(T, F, each) EXPECT(F, me != 0 || D(T)[0] == (T)(5 + (each)*n_pes))
#define WITHIN(T, F, each) EXPECT(F, old >= (T)5 && old < (T)(5 + (each)*n_pes) && (old - (T)5) % (each) == 0)
#define SWEEP_FADD(T, F, C) FIVE(T, F, old = F(C D(T), (T)2, 0), ON_FIRST(T, F, 2); WITHIN(T, F, 2))
#define SWEEP_FADD_NBI(T, F, C) FIVE(T, F, F(C& old, D(T), (T)2, 0), ON_FIRST(T, F, 2); WITHIN(T, F, 2))
#define SWEEP_ADD(T, F, C) FIVE(T, F, F(C D(T), (T)2, 0), ON_FIRST(T, F, 2))
#define SWEEP_FINC(T, F, C) FIVE(T, F, old = F(C D(T), 0), ON_FIRST(T, F, 1); WITHIN(T, F, 1))
#define SWEEP_FINC_NBI(T, F, C) FIVE(T, F, F(C& old, D(T), 0), ON_FIRST(T, F, 1); WITHIN(T, F, 1))
#define SWEEP_INC(T, F, C) FIVE(T, F, F(C D(T), 0), ON_FIRST(T, F, 1))
#define AND5 (5 & 3)
#define OR5 (5 | 3)
#define XOR5 (5 ^ 3)
#define SWEEP_BITS(T, F, C, IS) FIVE(T, F, F(C D(T), (T)3, next), EXPECT(F, D(T)[0] == (T)(IS)))
#define SWEEP_FBITS(T, F, C, IS) \
    FIVE(T, F, old = F(C D(T), (T)3, next), EXPECT(F, old == (T)5 && D(T)[0] == (T)(IS)))
#define SWEEP_FBITS_NBI(T, F, C, IS) \
    FIVE(T, F, F(C& old, D(T), (T)3, next), EXPECT(F, old == (T)5 && D(T)[0] == (T)(IS)))

/* ---- waiting: the previous PE sends three values */
#define SENT(T, F, ACT)                                                                             \
    TEST(T, F, shmem_putmem(D(T), S(T), 3 * sizeof(T), next); T values[3];                          \
         for (int i = 0; i < 3; ++i) values[i] = VALUE(T, prev, i); size_t at[3]; size_t count = 0; \
         (void)at; (void)values; (void)count; ACT, (void)0)
#define POLL(call, nothing) \
    while ((call) == (nothing)) sched_yield()
#define SWEEP_WAIT(T, F) SENT(T, F, F(D(T), SHMEM_CMP_EQ, values[0]); EXPECT(F, D(T)[0] == values[0]))
#define SWEEP_WAIT_OLD(T, F) SENT(T, F, F(D(T), (T)0); EXPECT(F, D(T)[0] == values[0]))
#define SWEEP_WAIT_ALL(T, F) SENT(T, F, F(D(T), 3, NULL, SHMEM_CMP_NE, (T)0); ALL(F, 3, D(T)[i] == values[i]))
#define SWEEP_WAIT_ANY(T, F)                                 \
    SENT(T, F, count = F(D(T), 3, NULL, SHMEM_CMP_GT, (T)0); \
         EXPECT(F, count < 3 && D(T)[count] == values[count]))
#define SOME(T, F) EXPECT(F, count >= 1 && count <= 3 && at[count - 1] < 3 && D(T)[at[0]] == values[at[0]])
#define SWEEP_WAIT_SOME(T, F) SENT(T, F, count = F(D(T), 3, at, NULL, SHMEM_CMP_GE, (T)1); SOME(T, F))
#define SWEEP_WAIT_ALL_VECTOR(T, F) \
    SENT(T, F, F(D(T), 3, NULL, SHMEM_CMP_EQ, values); ALL(F, 3, D(T)[i] == values[i]))
#define SWEEP_WAIT_ANY_VECTOR(T, F)                            \
    SENT(T, F, count = F(D(T), 3, NULL, SHMEM_CMP_EQ, values); \
         EXPECT(F, count < 3 && D(T)[count] == values[count]))
#define SWEEP_WAIT_SOME_VECTOR(T, F) \
    SENT(T, F, count = F(D(T), 3, at, NULL, SHMEM_CMP_EQ, values); SOME(T, F))
#define SWEEP_TEST(T, F) SENT(T, F, POLL(F(D(T), SHMEM_CMP_EQ, values[0]), 0))
#define SWEEP_TEST_ALL(T, F) \
    SENT(T, F, POLL(F(D(T), 3, NULL, SHMEM_CMP_NE, (T)0), 0); ALL(F, 3, D(T)[i] == values[i]))
#define SWEEP_TEST_ANY(T, F) \
    SENT(T, F, POLL(count = F(D(T), 3, NULL, SHMEM_CMP_NE, (T)0), SIZE_MAX); EXPECT(F, count < 3))
#define SWEEP_TEST_SOME(T, F) \
    SENT(T, F, POLL(count = F(D(T), 3, at, NULL, SHMEM_CMP_NE, (T)0), 0); SOME(T, F))
#define SWEEP_TEST_ALL_VECTOR(T, F) \
    SENT(T, F, POLL(F(D(T), 3, NULL, SHMEM_CMP_EQ, values), 0); ALL(F, 3, D(T)[i] == values[i]))
#define SWEEP_TEST_ANY_VECTOR(T, F) \
    SENT(T, F, POLL(count = F(D(T), 3, NULL, SHMEM_CMP_EQ, values), SIZE_MAX); EXPECT(F, count < 3))
#define SWEEP_TEST_SOME_VECTOR(T, F) \
    SENT(T, F, POLL(count = F(D(T), 3, at, NULL, SHMEM_CMP_EQ, values), 0); SOME(T, F))

/* ---- collectives. W: calls F with a team and expects 0. OLD: calls a deprecated F with an active set */
#define W(F, ...) EXPECT(F, F(SHMEM_TEAM_WORLD, __VA_ARGS__) == 0)
#define OLD(F, ...) F(__VA_ARGS__, 0, 0, n_pes, psync)
#define BLOCKS(T) \
    for (int i = 0; i < 2 * n_pes; ++i) S(T)[i] = VALUE(T, me, i / 2 + i % 2)
#define COLLECTIVE(T, FILL, ACT, LOOK) \
    do {                               \
        begin();                       \
        FILL;                          \
        meet();                        \
        ACT;                           \
        end();                         \
        LOOK;                          \
    } while (0)
#define SWEEP_ALLTOALL(T, F, CALL)                   \
    COLLECTIVE(T, BLOCKS(T), CALL(F, D(T), S(T), 2), \
               ALL(F, 2 * n_pes, D(T)[i] == VALUE(T, i / 2, me + i % 2)))
#define SWEEP_ALLTOALLS(T, F, CALL)                        \
    COLLECTIVE(T, BLOCKS(T), CALL(F, D(T), S(T), 2, 1, 2), \
               ALL(F, 2 * n_pes, D(T)[2 * i] == VALUE(T, i / 2, me + i % 2) && D(T)[2 * i + 1] == (T)0))
#define PLAIN(T) \
    for (int i = 0; i < N; ++i) S(T)[i] = VALUE(T, me, i)
#define SWEEP_BROADCAST(T, F) \
    COLLECTIVE(T, PLAIN(T), W(F, D(T), S(T), N, n_pes - 1), ALL(F, N, D(T)[i] == VALUE(T, n_pes - 1, i)))
#define SWEEP_BROADCAST_OLD(T, F)                             \
    COLLECTIVE(T, PLAIN(T), OLD(F, D(T), S(T), N, n_pes - 1), \
               ALL(F, N, D(T)[i] == (me == n_pes - 1 ? (T)0 : VALUE(T, n_pes - 1, i))))
#define LENGTH(pe) ((size_t)((pe) % N + 1))
#define SWEEP_COLLECT(T, F, CALL)                                           \
    COLLECTIVE(T, PLAIN(T), CALL(F, D(T), S(T), LENGTH(me)), int place = 0; \
               for (int p = 0; p < n_pes; ++p) ALL(F, (int)LENGTH(p), D(T)[place++] == VALUE(T, p, i)))
#define SWEEP_FCOLLECT(T, F, CALL) \
    COLLECTIVE(T, PLAIN(T), CALL(F, D(T), S(T), 2), ALL(F, 2 * n_pes, D(T)[i] == VALUE(T, i / 2, i % 2)))

#define TERM(T, pe, i) ((T)(((pe) + (i)) % 3 + 1))
#define TERMS(T) \
    for (int i = 0; i < N; ++i) S(T)[i] = TERM(T, me, i)
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define SUM(a, b) ((a) + (b))
#define PROD(a, b) ((a) * (b))
#define FOLDED(T, F, WHERE, OP, FIRST, BEHIND)                                \
    for (int i = 0; i < N; ++i) {                                             \
        T want = FIRST;                                                       \
        for (int p = 1; p < (BEHIND); ++p) want = (T)OP(want, TERM(T, p, i)); \
        EXPECT(F, WHERE[i] == want);                                          \
    }
#define SWEEP_REDUCE(T, F, OP)                                                                  \
    COLLECTIVE(T, TERMS(T), W(F, D(T), S(T), N), FOLDED(T, F, D(T), OP, TERM(T, 0, i), n_pes)); \
    COLLECTIVE(T, TERMS(T), W(F, S(T), S(T), N), FOLDED(T, F, S(T), OP, TERM(T, 0, i), n_pes))
#define SWEEP_TO_ALL(T, F, OP)                                                     \
    COLLECTIVE(T, TERMS(T), F(D(T), S(T), N, 0, 0, n_pes, (T*)(void*)work, psync), \
               FOLDED(T, F, D(T), OP, TERM(T, 0, i), n_pes))
#define SWEEP_INSCAN(T, F)                                                                        \
    COLLECTIVE(T, TERMS(T), W(F, D(T), S(T), N), FOLDED(T, F, D(T), SUM, TERM(T, 0, i), me + 1)); \
    COLLECTIVE(T, TERMS(T), W(F, S(T), S(T), N), FOLDED(T, F, S(T), SUM, TERM(T, 0, i), me + 1))
#define SWEEP_EXSCAN(T, F)                       \
    COLLECTIVE(T, TERMS(T), W(F, D(T), S(T), N), \
               FOLDED(T, F, D(T), SUM, (me == 0 ? (T)0 : TERM(T, 0, i)), me))

static void sweep(void);

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    n_pes = shmem_n_pes();
    next = (me + 1) % n_pes;
    prev = (me + n_pes - 1) % n_pes;
    EXPECT(shmem_ctx_create, shmem_ctx_create(0, &ctx) == 0);
    dest = shmem_malloc(AREA_BYTES);
    source = shmem_malloc(AREA_BYTES);
    signal_word = shmem_malloc(sizeof *signal_word);
    sweep();
    dest = static_dest;
    source = static_source;
    signal_word = &static_signal;
    sweep();
    for (size_t i = 0; i < sizeof psync / sizeof psync[0]; ++i) EXPECT(pSync, psync[i] == SHMEM_SYNC_VALUE);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}

#endif
