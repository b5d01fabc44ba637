// NVSHMEM's functions in kernels, as a program of NVSHMEM calls them: each scope, families by types, teams,
// and two programs that users write. Without ATOLL_TEST_ALL_TYPES it has the checks that compile fast.
#include "support.cuh"

#include <cstring>
#include <vector>

namespace {

constexpr int threads = 64;

/// Launches one block on all PEs and waits.
template <class... Parameters>
void run(const char* what, void (*kernel)(Parameters...), Parameters... values) {
    launch(what, kernel, threads, values...);
}

#if defined(ATOLL_TEST_ALL_TYPES)
// ---- scopes: the threads of the block that make a call
struct One {
    static __device__ bool calls() { return threadIdx.x == 0; }
};
struct AWarp {
    static __device__ bool calls() { return threadIdx.x < 32; }
};
struct ABlock {
    static __device__ bool calls() { return true; }
};

template <class T> __device__ T number(int i) { return static_cast<T>(static_cast<float>(i)); }
template <class T> __device__ bool is(T found, int expected) {
    return static_cast<float>(found) == static_cast<float>(expected);
}

// An operation's three names as overloads.
#define SCOPES(KIND, RESULT, OP, PARAMETERS, ARGUMENTS)                 \
    static __device__ RESULT OP(One, T* d, const T* s, PARAMETERS) {    \
        return nvshmem_##KIND##_##OP(d, s, ARGUMENTS);                  \
    }                                                                   \
    static __device__ RESULT OP(AWarp, T* d, const T* s, PARAMETERS) {  \
        return nvshmemx_##KIND##_##OP##_warp(d, s, ARGUMENTS);          \
    }                                                                   \
    static __device__ RESULT OP(ABlock, T* d, const T* s, PARAMETERS) { \
        return nvshmemx_##KIND##_##OP##_block(d, s, ARGUMENTS);         \
    }
#define JOINED(...) __VA_ARGS__
#define RMA(KIND, TYPE)                                                                                   \
    struct Rma_##KIND {                                                                                   \
        using T = TYPE;                                                                                   \
        SCOPES(KIND, void, put, JOINED(size_t c, int pe), JOINED(c, pe))                                  \
        SCOPES(KIND, void, get, JOINED(size_t c, int pe), JOINED(c, pe))                                  \
        SCOPES(KIND, void, put_nbi, JOINED(size_t c, int pe), JOINED(c, pe))                              \
        SCOPES(KIND, void, get_nbi, JOINED(size_t c, int pe), JOINED(c, pe))                              \
        SCOPES(KIND, void, iput, JOINED(ptrdiff_t x, ptrdiff_t y, size_t c, int pe), JOINED(x, y, c, pe)) \
        SCOPES(KIND, void, iget, JOINED(ptrdiff_t x, ptrdiff_t y, size_t c, int pe), JOINED(x, y, c, pe)) \
        SCOPES(KIND, void, put_signal, JOINED(size_t c, uint64_t* w, uint64_t v, int op, int pe),         \
               JOINED(c, w, v, op, pe))                                                                   \
        SCOPES(KIND, void, put_signal_nbi, JOINED(size_t c, uint64_t* w, uint64_t v, int op, int pe),     \
               JOINED(c, w, v, op, pe))                                                                   \
        static __device__ void p(T* d, T v, int pe) { nvshmem_##KIND##_p(d, v, pe); }                     \
        static __device__ T g(const T* s, int pe) { return nvshmem_##KIND##_g(s, pe); }                   \
    };
// One of each size, and the half types: all moves are of bytes.
#define RMA_TYPES(X) X(bfloat16, __nv_bfloat16) X(half, __half) X(char, char) X(int, int) X(double, double)
RMA_TYPES(RMA)

constexpr int length = 40;

/// Each PE moves to and from the next one. After each step all members meet, so that the next may overwrite.
template <class F, class Scope>
__device__ void move(Scope scope, typename F::T* a, typename F::T* b, typename F::T* mine, uint64_t* signal,
                     uint64_t round, int* wrong) {
    using T = typename F::T;
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    const int i = static_cast<int>(threadIdx.x);
    const bool is_mine = i < length;
    const auto step = [&](auto&& move, auto&& check) {
        __syncthreads();
        if (Scope::calls()) move();
        nvshmemx_barrier_all_block();
        if (is_mine) check();
        nvshmemx_barrier_all_block();
        if (is_mine) a[i] = b[i] = number<T>(0);
        nvshmemx_barrier_all_block();  // before the next PE writes a
    };
    if (is_mine) mine[i] = number<T>(me + i);
    nvshmemx_barrier_all_block();
    step([&] { F::put(scope, a, mine, length, right); }, [&] { CHECK(is(a[i], left + i)); });
    step([&] { F::get(scope, b, mine, length, right); }, [&] { CHECK(is(b[i], right + i)); });
    step(
        [&] {
            F::put_nbi(scope, a, mine, 3, right);
            nvshmem_quiet();
        },
        [&] { CHECK(is(a[i], i < 3 ? left + i : 0)); });
    step(
        [&] {
            F::get_nbi(scope, b, mine, length, right);
            nvshmem_quiet();
        },
        [&] { CHECK(is(b[i], right + i)); });
    step([&] { F::iput(scope, a, mine, 3, 2, 5, right); },
         [&] { CHECK(is(a[i], i < 15 && i % 3 == 0 ? left + i / 3 * 2 : 0)); });
    step([&] { F::iget(scope, b, mine, 1, 4, 6, right); },
         [&] { CHECK(is(b[i], i < 6 ? right + 4 * i : 0)); });
    step([&] { F::put_signal(scope, a, mine, length, signal, round, NVSHMEM_SIGNAL_SET, right); },
         [&] {
             CHECK(nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, round) == round);
             CHECK(is(a[i], left + i));
         });
    step([&] { F::put_signal_nbi(scope, a, mine, length, signal, 5, NVSHMEM_SIGNAL_ADD, right); },
         [&] {
             nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, round + 5);
             CHECK(nvshmem_signal_fetch(signal) == round + 5 && is(a[i], left + i));
         });
    step([&] { F::p(a + 2, number<T>(me + 7), right); },
         [&] {
             CHECK(is(a[2], left + 7));
             CHECK(is(F::g(a + 2, right), me + 7));
         });
}
template <class F>
__global__ void moves(typename F::T* a, typename F::T* b, typename F::T* mine, uint64_t* signal, int* wrong) {
    move<F>(One{}, a, b, mine, signal, 10, wrong);
    move<F>(AWarp{}, a, b, mine, signal, 20, wrong);
    move<F>(ABlock{}, a, b, mine, signal, 30, wrong);
}
template <class F> void check_moves(const char* name) {
    using T = typename F::T;
    T *a = symmetric<T>(length), *b = symmetric<T>(length), *mine = symmetric<T>(length);
    auto* signal = symmetric<uint64_t>(1);
    run(name, moves<F>, a, b, mine, signal, wrong);
    nvshmem_free(a);
    nvshmem_free(b);
    nvshmem_free(mine);
    nvshmem_free(signal);
}

#endif

// ---- untyped moves, signals, pointers
__global__ void untyped(char* a, char* b, uint64_t* signal, int* wrong) {
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    const int i = static_cast<int>(threadIdx.x);
    b[i] = static_cast<char>(me + i);
    nvshmemx_barrier_all_block();
    nvshmemx_putmem_block(a, b, threads, right);
    nvshmemx_barrier_all_block();
    CHECK(a[i] == static_cast<char>(left + i));
    nvshmemx_barrier_all_block();
    a[i] = 0;
    __syncthreads();
    if (i < 32) nvshmemx_getmem_warp(a, b, threads, left);
    __syncthreads();
    CHECK(a[i] == static_cast<char>(left + i));
    nvshmemx_barrier_all_block();
    if (i == 0) {
        nvshmem_putmem_signal(a, b, threads, signal, 3, NVSHMEM_SIGNAL_SET, right);
        nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 3);
    }
    __syncthreads();
    CHECK(a[i] == static_cast<char>(left + i));
    nvshmemx_barrier_all_block();
    if (i == 0) {
        nvshmemx_signal_op(signal, 4, NVSHMEM_SIGNAL_ADD, right);
        nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 7);
        nvshmem_fence();
        nvshmem_put64(a, b, 2, right);
        nvshmem_put128(a + 16, b + 16, 1, right);
        nvshmem_quiet();
    }
    nvshmemx_sync_all_block();
    const auto* there = static_cast<const char*>(nvshmem_ptr(b, right));
    CHECK(there != nullptr && there[i] == static_cast<char>(right + i));
    CHECK(nvshmem_ptr(b, n) == nullptr && nvshmem_ptr(wrong, 0) == nullptr);
    CHECK(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, b) == nullptr);
    nvshmemx_barrier_all_block();
    if (i < 32) nvshmemx_barrier_all_warp();
    __syncthreads();
    if (i == 0) nvshmem_barrier_all();
    __syncthreads();
    if (i == 0) nvshmem_sync_all();
}

// ---- atomics
#define ATOMICS(KIND, TYPE)                                                                 \
    __global__ void atomics_##KIND(TYPE* word, int* wrong) {                                \
        const int me = nvshmem_my_pe(), n = nvshmem_n_pes();                                \
        if (threadIdx.x == 0) {                                                             \
            nvshmem_##KIND##_atomic_add(word, static_cast<TYPE>(me + 1), 0);                \
            nvshmem_##KIND##_atomic_inc(word, 0);                                           \
            nvshmem_##KIND##_atomic_fetch_add(word, 2, 0);                                  \
            nvshmem_##KIND##_atomic_fetch_inc(word, 0);                                     \
            nvshmem_barrier_all();                                                          \
            const auto sum = static_cast<TYPE>(n * (n + 1) / 2 + 4 * n);                    \
            CHECK(nvshmem_##KIND##_atomic_fetch(word, 0) == sum);                           \
            nvshmem_##KIND##_atomic_set(word + 1, static_cast<TYPE>(me + 9), (me + 1) % n); \
            nvshmem_barrier_all();                                                          \
            const auto left = static_cast<TYPE>((me + n - 1) % n + 9);                      \
            CHECK(nvshmem_##KIND##_atomic_compare_swap(word + 1, left, 5, me) == left);     \
            CHECK(nvshmem_##KIND##_atomic_swap(word + 1, 6, me) == 5);                      \
            CHECK(nvshmem_##KIND##_g(word + 1, me) == 6);                                   \
        }                                                                                   \
    }
#define BITS(KIND, TYPE)                                                                      \
    __global__ void bits_##KIND(TYPE* word, int* wrong) {                                     \
        const int me = nvshmem_my_pe(), n = nvshmem_n_pes();                                  \
        if (threadIdx.x == 0) {                                                               \
            nvshmem_##KIND##_atomic_or(word, static_cast<TYPE>(1) << me, 0);                  \
            nvshmem_barrier_all();                                                            \
            CHECK(nvshmem_##KIND##_atomic_fetch(word, 0) == (static_cast<TYPE>(1) << n) - 1); \
            nvshmem_barrier_all();                                                            \
            nvshmem_##KIND##_atomic_xor(word, static_cast<TYPE>(1) << me, 0);                 \
            nvshmem_barrier_all();                                                            \
            CHECK(nvshmem_##KIND##_atomic_fetch_or(word + 1, 12, me) == 0);                   \
            CHECK(nvshmem_##KIND##_atomic_fetch_and(word + 1, 6, me) == 12);                  \
            CHECK(nvshmem_##KIND##_atomic_fetch_xor(word + 1, 1, me) == 4);                   \
            nvshmem_##KIND##_atomic_and(word + 1, 1, me);                                     \
            CHECK(nvshmem_##KIND##_atomic_fetch(word + 1, me) == 1);                          \
            CHECK(nvshmem_##KIND##_atomic_fetch(word, 0) == 0);                               \
        }                                                                                     \
    }
ATOMICS(int, int)
BITS(ulonglong, unsigned long long)
#if defined(ATOLL_TEST_ALL_TYPES)
ATOMICS(uint64, uint64_t)
BITS(uint, unsigned)
#endif
__global__ void atomics_double(double* word, int* wrong) {
    const int n = nvshmem_n_pes();
    nvshmemx_double_atomic_add(word, 0.5, 0);
    __syncthreads();
    nvshmemx_barrier_all_block();
    CHECK(nvshmem_double_atomic_fetch(word, 0) == 0.5 * threads * n);
}
template <class T> void check_words(const char* name, void (*kernel)(T*, int*)) {
    T* words = symmetric<T>(16);
    run(name, kernel, words, wrong);
    nvshmem_free(words);
}

// ---- waits and tests: the PE on the left writes the words
#define WAITS(KIND, TYPE)                                                                                 \
    __global__ void waits_##KIND(TYPE* words, int* wrong) {                                               \
        const int me = nvshmem_my_pe(), n = nvshmem_n_pes(), right = (me + 1) % n;                        \
        size_t found[4];                                                                                  \
        int status[4] = {0, 1, 0, 0};                                                                     \
        TYPE values[4] = {1, 2, 3, 4};                                                                    \
        if (threadIdx.x != 0) return;                                                                     \
        CHECK(nvshmem_##KIND##_test(words, NVSHMEM_CMP_EQ, 7) == 0);                                      \
        CHECK(nvshmem_##KIND##_test_any(words, 4, nullptr, NVSHMEM_CMP_GT, 0) == SIZE_MAX);               \
        CHECK(nvshmem_##KIND##_test_some(words, 4, found, nullptr, NVSHMEM_CMP_GT, 0) == 0);              \
        nvshmem_barrier_all();                                                                            \
        nvshmem_##KIND##_p(words + 2, 3, right);                                                          \
        nvshmem_##KIND##_wait_until(words + 2, NVSHMEM_CMP_GE, 3);                                        \
        CHECK(nvshmem_##KIND##_wait_until_any(words, 4, status, NVSHMEM_CMP_NE, 0) == 2);                 \
        CHECK(nvshmem_##KIND##_wait_until_some(words, 4, found, status, NVSHMEM_CMP_NE, 0) == 1);         \
        CHECK(found[0] == 2);                                                                             \
        CHECK(nvshmem_##KIND##_test_all(words, 4, status, NVSHMEM_CMP_NE, 0) == 0);                       \
        nvshmem_barrier_all();                                                                            \
        nvshmem_##KIND##_p(words, 1, right);                                                              \
        nvshmem_##KIND##_p(words + 3, 4, right);                                                          \
        nvshmem_##KIND##_wait_until_all(words, 4, status, NVSHMEM_CMP_GT, 0);                             \
        nvshmem_##KIND##_wait_until_all_vector(words, 4, status, NVSHMEM_CMP_EQ, values);                 \
        CHECK(nvshmem_##KIND##_test_all_vector(words, 4, status, NVSHMEM_CMP_EQ, values) == 1);           \
        CHECK(nvshmem_##KIND##_wait_until_any_vector(words, 4, status, NVSHMEM_CMP_EQ, values) == 0);     \
        CHECK(nvshmem_##KIND##_test_any_vector(words, 4, status, NVSHMEM_CMP_EQ, values) == 0);           \
        CHECK(nvshmem_##KIND##_wait_until_some_vector(words, 4, found, status, NVSHMEM_CMP_EQ, values) == \
              3);                                                                                         \
        CHECK(nvshmem_##KIND##_test_some_vector(words, 4, found, status, NVSHMEM_CMP_EQ, values) == 3);   \
        CHECK(found[2] == 3);                                                                             \
    }
WAITS(short, short)
#if defined(ATOLL_TEST_ALL_TYPES)
WAITS(int, int)
WAITS(uint64, uint64_t)

// ---- collectives
#define TEAM_SCOPES(KIND, OP, PARAMETERS, ARGUMENTS)                                   \
    static __device__ int OP(One, nvshmem_team_t t, T* d, const T* s, PARAMETERS) {    \
        return nvshmem_##KIND##_##OP(t, d, s, ARGUMENTS);                              \
    }                                                                                  \
    static __device__ int OP(AWarp, nvshmem_team_t t, T* d, const T* s, PARAMETERS) {  \
        return nvshmemx_##KIND##_##OP##_warp(t, d, s, ARGUMENTS);                      \
    }                                                                                  \
    static __device__ int OP(ABlock, nvshmem_team_t t, T* d, const T* s, PARAMETERS) { \
        return nvshmemx_##KIND##_##OP##_block(t, d, s, ARGUMENTS);                     \
    }
#define COLLECTIVES(KIND, TYPE)                                                   \
    struct Collective_##KIND {                                                    \
        using T = TYPE;                                                           \
        TEAM_SCOPES(KIND, alltoall, size_t c, c)                                  \
        TEAM_SCOPES(KIND, fcollect, size_t c, c)                                  \
        TEAM_SCOPES(KIND, broadcast, JOINED(size_t c, int root), JOINED(c, root)) \
        TEAM_SCOPES(KIND, sum_reduce, size_t c, c)                                \
        TEAM_SCOPES(KIND, prod_reduce, size_t c, c)                               \
        TEAM_SCOPES(KIND, max_reduce, size_t c, c)                                \
        TEAM_SCOPES(KIND, min_reduce, size_t c, c)                                \
        TEAM_SCOPES(KIND, sum_reducescatter, size_t c, c)                         \
    };
COLLECTIVES(half, __half)
COLLECTIVES(int16, int16_t)
COLLECTIVES(float, float)

/// Small messages go through the team's own words, large ones through symmetric memory.
constexpr int large = 3000;

template <class F, class Scope>
__device__ void collect(Scope scope, nvshmem_team_t team, typename F::T* a, typename F::T* b, int c,
                        int* wrong) {
    using T = typename F::T;
    const int me = nvshmem_team_my_pe(team), n = nvshmem_team_n_pes(team), root = n - 1;
    const auto step = [&](int count, auto&& call, auto&& expected) {
        __syncthreads();
        if (Scope::calls()) CHECK(call() == 0);
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < count; i += threads) CHECK(is(b[i], expected(i)));
        __syncthreads();
        nvshmemx_team_sync_block(team);
    };
    for (int i = static_cast<int>(threadIdx.x); i < n * c; i += threads) a[i] = number<T>(me + 1 + i / c);
    nvshmemx_barrier_block(team);
    const auto cs = static_cast<size_t>(c);
    const int sum = n * (n + 1) / 2;
    int product = 1;
    for (int k = 2; k <= n; ++k) product *= k;
    step(
        n * c, [&] { return F::alltoall(scope, team, b, a, cs); }, [&](int i) { return i / c + 1 + me; });
    step(
        n * c, [&] { return F::fcollect(scope, team, b, a, cs); }, [&](int i) { return i / c + 1; });
    step(
        c, [&] { return F::broadcast(scope, team, b, a, cs, root); }, [&](int) { return root + 1; });
    step(
        c, [&] { return F::sum_reduce(scope, team, b, a, cs); }, [&](int) { return sum; });
    step(
        c, [&] { return F::prod_reduce(scope, team, b, a, cs); }, [&](int) { return product; });
    step(
        c, [&] { return F::max_reduce(scope, team, b, a, cs); }, [&](int) { return n; });
    step(
        c, [&] { return F::min_reduce(scope, team, b, a, cs); }, [&](int) { return 1; });
    step(
        c, [&] { return F::sum_reducescatter(scope, team, b, a, cs); }, [&](int) { return sum + n * me; });
}
template <class F>
__global__ void collectives(nvshmem_team_t team, typename F::T* a, typename F::T* b, int* wrong) {
    for (const int count : {3, large}) {
        collect<F>(One{}, team, a, b, count, wrong);
        collect<F>(AWarp{}, team, a, b, count, wrong);
        collect<F>(ABlock{}, team, a, b, count, wrong);
    }
}
template <class F> void check_collectives(const char* name, nvshmem_team_t team) {
    using T = typename F::T;
    const auto count = static_cast<size_t>(large) * static_cast<size_t>(n);
    T *a = symmetric<T>(count), *b = symmetric<T>(count);
    run(name, collectives<F>, team, a, b, wrong);
    nvshmem_free(a);
    nvshmem_free(b);
}
#endif

__global__ void bit_collectives(unsigned* a, unsigned* b, int* wrong) {
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    if (threadIdx.x == 0) a[0] = 1u << me | 256u;
    __syncthreads();
    CHECK(nvshmemx_uint_or_reduce_block(NVSHMEM_TEAM_WORLD, b, a, 1) == 0 && b[0] == ((1u << n) - 1 | 256u));
    if (threadIdx.x < 32) CHECK(nvshmemx_uint_and_reduce_warp(NVSHMEM_TEAM_WORLD, b + 1, a, 1) == 0);
    __syncthreads();
    if (threadIdx.x == 0) CHECK(nvshmem_uint_xor_reduce(NVSHMEM_TEAM_WORLD, b + 2, a, 1) == 0);
    __syncthreads();
    CHECK(b[1] == (n == 1 ? 257u : 256u) && b[2] == ((1u << n) - 1 | (n % 2 != 0 ? 256u : 0u)));
}

// ---- teams
__global__ void teams(nvshmem_team_t half, nvshmem_team_t destroyed, int* word, int* wrong) {
    const int me = nvshmem_my_pe();
    CHECK(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == me && nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID) == -1);
    CHECK(nvshmem_team_n_pes(NVSHMEMX_TEAM_NODE) == nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED));
    CHECK(nvshmem_team_my_pe(destroyed) == -1);
    CHECK(nvshmem_team_my_pe(half) == me / 2);
    CHECK(nvshmem_team_translate_pe(half, 0, NVSHMEM_TEAM_WORLD) == me % 2);
    if (threadIdx.x == 0)
        nvshmem_int_atomic_inc(word, nvshmem_team_translate_pe(half, 0, NVSHMEM_TEAM_WORLD));
    nvshmemx_barrier_block(half);
    if (me < 2) CHECK(*word == nvshmem_team_n_pes(half));
}
void check_teams() {
    auto* word = symmetric<int>(1);
    nvshmem_team_t half = NVSHMEM_TEAM_INVALID, other = NVSHMEM_TEAM_INVALID,
                   destroyed = NVSHMEM_TEAM_INVALID;
    const int odd = n / 2, even = n - odd;
    REQUIRE(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, n, nullptr, 0, &destroyed) == 0);
    nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, even, nullptr, 0, me % 2 == 0 ? &half : &other);
    if (n > 1)
        nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 1, 2, odd, nullptr, 0, me % 2 == 1 ? &half : &other);
    REQUIRE(half != NVSHMEM_TEAM_INVALID);
    nvshmem_team_destroy(destroyed);
    run("teams", teams, half, destroyed, word, wrong);
#if defined(ATOLL_TEST_ALL_TYPES)
    check_collectives<Collective_float>("a collective of a team", half);
#endif
    nvshmem_team_destroy(half);
    nvshmem_free(word);
}

// ---- a user's kernel: a token goes around the ring; each PE adds its number
__global__ void ring(int* token, uint64_t* flag) {
    const int mype = nvshmem_my_pe(), npes = nvshmem_n_pes(), peer = (mype + 1) % npes;
    if (mype != 0) nvshmem_signal_wait_until(flag, NVSHMEM_CMP_EQ, 1);
    int value = mype == 0 ? 0 : *token;
    value += mype;
    nvshmem_int_p(token, value, peer);
    nvshmem_fence();
    nvshmemx_signal_op(flag, 1, NVSHMEM_SIGNAL_SET, peer);
    if (mype == 0) nvshmem_signal_wait_until(flag, NVSHMEM_CMP_EQ, 1);
}
void check_ring() {
    auto* token = symmetric<int>(1);
    auto* flag = symmetric<uint64_t>(1);
    void* arguments[] = {&token, &flag};
    REQUIRE(nvshmemx_collective_launch(reinterpret_cast<const void*>(ring), 1, 1, arguments, 0, 0) == 0);
    nvshmemx_barrier_all_on_stream(0);
    CUDA(cudaDeviceSynchronize());
    int value = 0;
    CUDA(cudaMemcpy(&value, token, sizeof value, cudaMemcpyDeviceToHost));
    const int left = (me + n - 1) % n;
    REQUIRE(value == left * (left + 1) / 2);
    nvshmem_free(token);
    nvshmem_free(flag);
}

// An all-reduce over several blocks: each block sends its part around, and adds what comes.
__global__ void allreduce(float* data, float* inbox, uint64_t* arrived, int part) {
    const int mype = nvshmem_my_pe(), npes = nvshmem_n_pes();
    float* mine = data + blockIdx.x * part;
    for (int step = 1; step < npes; ++step) {
        const int peer = (mype + step) % npes;
        nvshmemx_float_put_signal_nbi_block(inbox + (mype * gridDim.x + blockIdx.x) * part, mine, part,
                                            arrived + mype * gridDim.x + blockIdx.x, 1, NVSHMEM_SIGNAL_SET,
                                            peer);
    }
    __syncthreads();
    nvshmem_quiet();
    for (int step = 1; step < npes; ++step) {
        const int peer = (mype + step) % npes;
        if (threadIdx.x == 0)
            nvshmem_signal_wait_until(arrived + peer * gridDim.x + blockIdx.x, NVSHMEM_CMP_EQ, 1);
        __syncthreads();
        for (int i = threadIdx.x; i < part; i += blockDim.x)
            mine[i] += inbox[(peer * gridDim.x + blockIdx.x) * part + i];
        __syncthreads();
    }
}
void check_allreduce() {
    const dim3 block(128);
    int part = 500, fits = 0;
    REQUIRE(nvshmemx_collective_launch_query_gridsize(reinterpret_cast<const void*>(allreduce), block,
                                                      nullptr, 0, &fits) == 0);
    const unsigned grid = fits < 8 ? static_cast<unsigned>(fits) : 8;
    const size_t count = grid * static_cast<size_t>(part), all = count * static_cast<size_t>(n);
    auto* data = symmetric<float>(count);
    auto* inbox = symmetric<float>(all);
    auto* arrived = symmetric<uint64_t>(static_cast<size_t>(n) * grid);
    std::vector<float> values(count, static_cast<float>(me + 1));
    CUDA(cudaMemcpy(data, values.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    nvshmem_barrier_all();
    void* arguments[] = {&data, &inbox, &arrived, &part};
    REQUIRE(nvshmemx_collective_launch(reinterpret_cast<const void*>(allreduce), grid, block, arguments, 0,
                                       0) == 0);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(values.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (const float value : values) REQUIRE(value == static_cast<float>(n * (n + 1) / 2));
    nvshmem_barrier_all();
    nvshmem_free(data);
    nvshmem_free(inbox);
    nvshmem_free(arrived);
}

/// A launch before the module has its state: the first allocation would fill it.
int launch_unfilled() {
    untyped<<<1, threads>>>(nullptr, nullptr, nullptr, nullptr);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}

void check_all() {
    auto *a = symmetric<char>(threads), *b = symmetric<char>(threads);
    auto* signal = symmetric<uint64_t>(1);
    run("untyped", untyped, a, b, signal, wrong);
    check_words("atomics of int", atomics_int);
    check_words("bits of ulonglong", bits_ulonglong);
    check_words("atomics of double", atomics_double);
    check_words("waits of short", waits_short);
#if defined(ATOLL_TEST_ALL_TYPES)
#define MOVES(KIND, TYPE) check_moves<Rma_##KIND>("moves of " #KIND);
    RMA_TYPES(MOVES)
    check_words("atomics of uint64", atomics_uint64);
    check_words("bits of uint", bits_uint);
    check_words("waits of int", waits_int);
    check_words("waits of uint64", waits_uint64);
    check_collectives<Collective_float>("collectives of float", NVSHMEM_TEAM_WORLD);
    check_collectives<Collective_half>("collectives of half", NVSHMEM_TEAM_WORLD);
    check_collectives<Collective_int16>("collectives of int16", NVSHMEM_TEAM_WORLD);
#endif
    auto *x = symmetric<unsigned>(4), *y = symmetric<unsigned>(4);
    run("bit collectives", bit_collectives, x, y, wrong);
    check_teams();
    check_ring();
    check_allreduce();
}

}  // namespace

int main(int argc, char** argv) {
    if (!begin()) return 0;
    if (argc > 1 && std::strcmp(argv[1], "unfilled") == 0) return launch_unfilled();
    check_all();
    nvshmem_finalize();
    return 0;
}
