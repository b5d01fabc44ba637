// Every typed host function of NVSHMEM, with and without a stream, on host memory.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int me, n;
cudaStream_t stream = nullptr;

void require(bool right, const char* type, const char* what, int line) {
    if (right) return;
    std::fprintf(stderr, "PE %d of %d: %s of %s is wrong (line %d)\n", me, n, what, type, line);
    nvshmem_global_exit(1);
    std::exit(1);
}
#define REQUIRE(condition, what) require(condition, type, what, __LINE__)

template <class T> T number(int i) { return static_cast<T>(i); }
template <class T> bool is(T found, int expected) { return found == number<T>(expected); }

constexpr int length = 12;
template <class T> struct Memory {
    T* a = static_cast<T*>(nvshmem_calloc(64 * length, sizeof(T)));
    T* b = static_cast<T*>(nvshmem_calloc(64 * length, sizeof(T)));
    ~Memory() {
        nvshmem_free(a);
        nvshmem_free(b);
    }
};

template <class T> struct Rma {
    void (*put)(T*, const T*, size_t, int);
    void (*get)(T*, const T*, size_t, int);
    void (*iput)(T*, const T*, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*iget)(T*, const T*, ptrdiff_t, ptrdiff_t, size_t, int);
    void (*p)(T*, T, int);
    T (*g)(const T*, int);
    void (*put_on_stream)(T*, const T*, size_t, int, cudaStream_t);
    void (*get_on_stream)(T*, const T*, size_t, int, cudaStream_t);
    void (*iput_on_stream)(T*, const T*, ptrdiff_t, ptrdiff_t, size_t, int, cudaStream_t);
    void (*iget_on_stream)(T*, const T*, ptrdiff_t, ptrdiff_t, size_t, int, cudaStream_t);
    void (*p_on_stream)(T*, T, int, cudaStream_t);
    T (*g_on_stream)(const T*, int, cudaStream_t);
};

/// Each PE puts to the next one, which reads the one before it.
template <class T> void check_rma(const char* type, const Rma<T>& f, bool nbi) {
    Memory<T> m;
    const int right = (me + 1) % n, left = (me + n - 1) % n;
    std::vector<T> mine, got(length);
    for (int i = 0; i < length; ++i) mine.push_back(number<T>(me + i));
    for (const bool on_stream : {false, true}) {
        on_stream ? f.put_on_stream(m.a, mine.data(), length, right, stream)
                  : f.put(m.a, mine.data(), length, right);
        nvshmem_barrier_all();
        for (int i = 0; i < length; ++i) REQUIRE(is(m.a[i], left + i), "put");
        on_stream ? f.get_on_stream(got.data(), m.a, length, right, stream)
                  : f.get(got.data(), m.a, length, right);
        if (nbi) nvshmem_quiet();
        for (int i = 0; i < length; ++i) REQUIRE(is(got[static_cast<size_t>(i)], me + i), "get");
        nvshmem_barrier_all();
        if (f.iput == nullptr) continue;
        on_stream ? f.iput_on_stream(m.b, mine.data(), 2, 3, 4, right, stream)
                  : f.iput(m.b, mine.data(), 2, 3, 4, right);
        nvshmem_barrier_all();
        for (int i = 0; i < 4; ++i) REQUIRE(is(m.b[2 * i], left + 3 * i), "iput");
        on_stream ? f.iget_on_stream(got.data(), m.b, 1, 2, 4, right, stream)
                  : f.iget(got.data(), m.b, 1, 2, 4, right);
        for (int i = 0; i < 4; ++i) REQUIRE(is(got[static_cast<size_t>(i)], me + 3 * i), "iget");
        on_stream ? f.p_on_stream(m.b + 20, number<T>(me + 7), right, stream)
                  : f.p(m.b + 20, number<T>(me + 7), right);
        nvshmem_barrier_all();
        REQUIRE(is(m.b[20], left + 7), "p");
        REQUIRE(is(on_stream ? f.g_on_stream(m.b + 20, right, stream) : f.g(m.b + 20, right), me + 7), "g");
        nvshmem_barrier_all();
    }
}

template <class T> struct Signals {
    void (*put_signal)(T*, const T*, size_t, uint64_t*, uint64_t, int, int, cudaStream_t);
    void (*put_signal_nbi)(T*, const T*, size_t, uint64_t*, uint64_t, int, int, cudaStream_t);
};
template <class T> void check_signals(const char* type, const Signals<T>& f) {
    Memory<T> m;
    auto* signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
    const int right = (me + 1) % n, left = (me + n - 1) % n;
    const T mine = number<T>(me + 1);
    f.put_signal(m.a, &mine, 1, signal, 5, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_signal_wait_until_on_stream(signal, NVSHMEM_CMP_EQ, 5, stream);
    REQUIRE(is(m.a[0], left + 1), "put_signal");
    nvshmem_barrier_all();
    f.put_signal_nbi(m.a + 1, &mine, 1, signal, 4, NVSHMEM_SIGNAL_ADD, right, stream);
    nvshmemx_signal_wait_until_on_stream(signal, NVSHMEM_CMP_GE, 9, stream);
    REQUIRE(nvshmem_signal_fetch(signal) == 9 && is(m.a[1], left + 1), "put_signal_nbi");
    nvshmem_barrier_all();
    nvshmemx_signal_op_on_stream(signal, 3, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmem_barrier_all();
    REQUIRE(nvshmem_signal_fetch(signal) == 3, "signal_op");
    nvshmem_free(signal);
}

template <class T> struct Collectives {
    int (*alltoall)(nvshmem_team_t, T*, const T*, size_t);
    int (*broadcast)(nvshmem_team_t, T*, const T*, size_t, int);
    int (*fcollect)(nvshmem_team_t, T*, const T*, size_t);
    int (*alltoall_on_stream)(nvshmem_team_t, T*, const T*, size_t, cudaStream_t);
    int (*broadcast_on_stream)(nvshmem_team_t, T*, const T*, size_t, int, cudaStream_t);
    int (*fcollect_on_stream)(nvshmem_team_t, T*, const T*, size_t, cudaStream_t);
};
template <class T> void check_collectives(const char* type, const Collectives<T>& f) {
    Memory<T> m;
    const nvshmem_team_t team = NVSHMEM_TEAM_WORLD;
    for (const bool on_stream : {false, true}) {
        for (int pe = 0; pe < n; ++pe)
            for (int i = 0; i < 2; ++i) m.a[2 * pe + i] = number<T>(10 * me + 2 * pe + i);
        REQUIRE((on_stream ? f.alltoall_on_stream(team, m.b, m.a, 2, stream)
                           : f.alltoall(team, m.b, m.a, 2)) == 0,
                "alltoall's status");
        for (int pe = 0; pe < n; ++pe)
            for (int i = 0; i < 2; ++i) REQUIRE(is(m.b[2 * pe + i], 10 * pe + 2 * me + i), "alltoall");
        REQUIRE((on_stream ? f.fcollect_on_stream(team, m.b, m.a, 2, stream)
                           : f.fcollect(team, m.b, m.a, 2)) == 0,
                "fcollect's status");
        for (int pe = 0; pe < n; ++pe) REQUIRE(is(m.b[2 * pe + 1], 10 * pe + 1), "fcollect");
        const int root = n - 1;
        REQUIRE((on_stream ? f.broadcast_on_stream(team, m.b, m.a, 2, root, stream)
                           : f.broadcast(team, m.b, m.a, 2, root)) == 0,
                "broadcast's status");
        REQUIRE(is(m.b[1], 10 * root + 1), "broadcast");
        nvshmem_barrier_all();
    }
}

template <class T> using Reduce = int (*)(nvshmem_team_t, T*, const T*, size_t);
template <class T> using ReduceOnStream = int (*)(nvshmem_team_t, T*, const T*, size_t, cudaStream_t);

/// `expected` is the result for 1, 2, ..., n.
template <class T>
void check_reduction(const char* type, const char* what, int expected, Reduce<T> reduce, Reduce<T> scatter,
                     ReduceOnStream<T> reduce_on_stream, ReduceOnStream<T> scatter_on_stream) {
    Memory<T> m;
    for (int i = 0; i < 3 * n; ++i) m.a[i] = number<T>(me + 1);
    const nvshmem_team_t team = NVSHMEM_TEAM_WORLD;
    for (const bool on_stream : {false, true}) {
        const int status =
            on_stream ? reduce_on_stream(team, m.b, m.a, 3, stream) : reduce(team, m.b, m.a, 3);
        REQUIRE(status == 0 && is(m.b[0], expected) && is(m.b[2], expected), what);
        nvshmem_barrier_all();
        const int second =
            on_stream ? scatter_on_stream(team, m.b, m.a, 3, stream) : scatter(team, m.b, m.a, 3);
        REQUIRE(second == 0 && is(m.b[0], expected) && is(m.b[2], expected), what);
        nvshmem_barrier_all();
    }
}

int folded(int (*op)(int, int)) {
    int result = 1;
    for (int i = 2; i <= n; ++i) result = op(result, i);
    return result;
}

template <class T> struct Atomics {
    T (*fetch)(const T*, int);
    void (*set)(T*, T, int);
    T (*swap)(T*, T, int);
};
/// Each PE works on a word of its own on the next PE.
template <class T> void check_atomics(const char* type, const Atomics<T>& f) {
    Memory<T> m;
    const int right = (me + 1) % n;
    f.set(m.a, number<T>(3), right);
    REQUIRE(is(f.fetch(m.a, right), 3), "atomic_set and atomic_fetch");
    REQUIRE(is(f.swap(m.a, number<T>(4), right), 3) && is(f.fetch(m.a, right), 4), "atomic_swap");
    nvshmem_barrier_all();
}
template <class T> struct Sums {
    T (*compare_swap)(T*, T, T, int);
    T (*fetch_inc)(T*, int);
    void (*inc)(T*, int);
    T (*fetch_add)(T*, T, int);
    void (*add)(T*, T, int);
};
template <class T> void check_sums(const char* type, const Sums<T>& f, T (*fetch)(const T*, int)) {
    Memory<T> m;
    f.add(m.a, number<T>(2), 0);
    f.fetch_add(m.a, number<T>(3), 0);
    if (f.inc != nullptr) {
        f.inc(m.a, 0);
        f.fetch_inc(m.a, 0);
    }
    nvshmem_barrier_all();
    REQUIRE(is(fetch(m.a, 0), (f.inc ? 7 : 5) * n), "sum of all PEs");
    nvshmem_barrier_all();
    if (f.compare_swap == nullptr) return;
    T* word = m.a + 1 + me;
    REQUIRE(is(f.compare_swap(word, number<T>(0), number<T>(9), 0), 0), "compare_swap");
    REQUIRE(is(f.compare_swap(word, number<T>(0), number<T>(1), 0), 9), "compare_swap of another value");
    nvshmem_barrier_all();
}
template <class T> struct Bitwise {
    T (*fetch_and)(T*, T, int);
    void (*bit_and)(T*, T, int);
    T (*fetch_or)(T*, T, int);
    void (*bit_or)(T*, T, int);
    T (*fetch_xor)(T*, T, int);
    void (*bit_xor)(T*, T, int);
};
template <class T> void check_bits(const char* type, const Bitwise<T>& f) {
    Memory<T> m;
    T* word = m.a + me;
    f.bit_or(word, number<T>(6), 0);
    REQUIRE(is(f.fetch_or(word, number<T>(1), 0), 6), "or");
    f.bit_and(word, number<T>(5), 0);
    REQUIRE(is(f.fetch_and(word, number<T>(4), 0), 5), "and");
    f.bit_xor(word, number<T>(1), 0);
    REQUIRE(is(f.fetch_xor(word, number<T>(1), 0), 5), "xor");
    nvshmem_barrier_all();
}

template <class T> struct Waits {
    void (*wait_until)(T*, int, T, cudaStream_t);
    void (*wait_until_all)(T*, size_t, const int*, int, T, cudaStream_t);
    void (*wait_until_all_vector)(T*, size_t, const int*, int, T*, cudaStream_t);
    void (*put)(T*, const T*, size_t, int);
};
template <class T> void check_waits(const char* type, const Waits<T>& f) {
    Memory<T> m;
    T values[3] = {number<T>(1), number<T>(2), number<T>(3)};
    f.put(m.a, values, 3, (me + 1) % n);
    f.wait_until(m.a + 2, NVSHMEM_CMP_EQ, number<T>(3), stream);
    f.wait_until_all(m.a, 3, nullptr, NVSHMEM_CMP_GE, number<T>(1), stream);
    f.wait_until_all_vector(m.a, 3, nullptr, NVSHMEM_CMP_EQ, values, stream);
    REQUIRE(is(m.a[1], 2), "what a wait saw");
    nvshmem_barrier_all();
}

template <int bits> struct Bytes { unsigned char bytes[bits / 8]; };
/// The functions by size move what the typed ones of as many bytes do.
template <int bits, class Put, class PutOnStream, class PutSignal>
void check_size(Put put, Put get, PutOnStream put_on_stream, PutOnStream get_on_stream,
                PutSignal put_signal) {
    const char* type = "a size in bits";
    using E = Bytes<bits>;
    auto* a = static_cast<E*>(nvshmem_calloc(4, sizeof(E)));
    auto* signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
    const int right = (me + 1) % n, left = (me + n - 1) % n;
    E mine{}, got{};
    mine.bytes[sizeof(E) - 1] = static_cast<unsigned char>(me + 1);
    put(a, &mine, 1, right);
    put_on_stream(a + 1, &mine, 1, right, stream);
    put_signal(a + 2, &mine, 1, signal, 1, NVSHMEM_SIGNAL_SET, right, stream);
    nvshmemx_signal_wait_until_on_stream(signal, NVSHMEM_CMP_EQ, 1, stream);
    nvshmem_barrier_all();
    for (int i = 0; i < 3; ++i) REQUIRE(a[i].bytes[sizeof(E) - 1] == left + 1, "put");
    get(&got, a, 1, right);
    REQUIRE(got.bytes[sizeof(E) - 1] == me + 1, "get");
    get_on_stream(&got, a + 1, 1, left, stream);
    REQUIRE(got.bytes[sizeof(E) - 1] == (left + n - 1) % n + 1, "get on a stream");
    nvshmem_barrier_all();
    nvshmem_free(a);
    nvshmem_free(signal);
}

// clang-format off
#define RMA(NAME, T)                                                                                        \
    check_rma<T>(                                                                                           \
        #NAME,                                                                                              \
        {nvshmem_##NAME##_put, nvshmem_##NAME##_get, nvshmem_##NAME##_iput, nvshmem_##NAME##_iget,          \
         nvshmem_##NAME##_p, nvshmem_##NAME##_g, nvshmemx_##NAME##_put_on_stream,                           \
         nvshmemx_##NAME##_get_on_stream, nvshmemx_##NAME##_iput_on_stream,                                 \
         nvshmemx_##NAME##_iget_on_stream, nvshmemx_##NAME##_p_on_stream, nvshmemx_##NAME##_g_on_stream},   \
        false);                                                                                             \
    check_rma<T>(#NAME,                                                                                     \
                 {nvshmem_##NAME##_put_nbi, nvshmem_##NAME##_get_nbi, nullptr, nullptr, nullptr, nullptr,   \
                  nvshmemx_##NAME##_put_nbi_on_stream, nvshmemx_##NAME##_get_nbi_on_stream, nullptr,        \
                  nullptr, nullptr, nullptr},                                                               \
                 true);                                                                                     \
    check_signals<T>(#NAME,                                                                                 \
                     {nvshmemx_##NAME##_put_signal_on_stream, nvshmemx_##NAME##_put_signal_nbi_on_stream}); \
    check_collectives<T>(#NAME,                                                                             \
                         {nvshmem_##NAME##_alltoall, nvshmem_##NAME##_broadcast, nvshmem_##NAME##_fcollect, \
                          nvshmemx_##NAME##_alltoall_on_stream, nvshmemx_##NAME##_broadcast_on_stream,      \
                          nvshmemx_##NAME##_fcollect_on_stream});
#define REDUCTION(NAME, T, OP, EXPECTED)                                                                 \
    check_reduction<T>(#NAME, #OP, EXPECTED, nvshmem_##NAME##_##OP##_reduce,                             \
                       nvshmem_##NAME##_##OP##_reducescatter, nvshmemx_##NAME##_##OP##_reduce_on_stream, \
                       nvshmemx_##NAME##_##OP##_reducescatter_on_stream);
#define REDUCTIONS(NAME, T)                \
    REDUCTION(NAME, T, max, n)             \
    REDUCTION(NAME, T, min, 1)             \
    REDUCTION(NAME, T, sum, n*(n + 1) / 2) \
    REDUCTION(NAME, T, prod, folded([](int a, int b) { return a * b; }))
#define BIT_REDUCTIONS(NAME, T)                                         \
    REDUCTION(NAME, T, and, folded([](int a, int b) { return a & b; })) \
    REDUCTION(NAME, T, or, folded([](int a, int b) { return a | b; }))  \
    REDUCTION(NAME, T, xor, folded([](int a, int b) { return a ^ b; }))
#define ATOMICS(NAME, T) \
    check_atomics<T>(    \
        #NAME, {nvshmem_##NAME##_atomic_fetch, nvshmem_##NAME##_atomic_set, nvshmem_##NAME##_atomic_swap});
#define SUMS(NAME, T)                                                                                  \
    check_sums<T>(                                                                                     \
        #NAME,                                                                                         \
        {nvshmem_##NAME##_atomic_compare_swap, nvshmem_##NAME##_atomic_fetch_inc,                      \
         nvshmem_##NAME##_atomic_inc, nvshmem_##NAME##_atomic_fetch_add, nvshmem_##NAME##_atomic_add}, \
        nvshmem_##NAME##_atomic_fetch);
#define FLOAT_SUMS(NAME, T)                                                                            \
    check_sums<T>(                                                                                     \
        #NAME,                                                                                         \
        {nullptr, nullptr, nullptr, nvshmemx_##NAME##_atomic_fetch_add, nvshmemx_##NAME##_atomic_add}, \
        nvshmem_##NAME##_atomic_fetch);
#define BITWISE(NAME, T)                                                                  \
    check_bits<T>(#NAME, {nvshmem_##NAME##_atomic_fetch_and, nvshmem_##NAME##_atomic_and, \
                          nvshmem_##NAME##_atomic_fetch_or, nvshmem_##NAME##_atomic_or,   \
                          nvshmem_##NAME##_atomic_fetch_xor, nvshmem_##NAME##_atomic_xor});
#define WAITS(NAME, T)                                                                                  \
    check_waits<T>(#NAME,                                                                               \
                   {nvshmemx_##NAME##_wait_until_on_stream, nvshmemx_##NAME##_wait_until_all_on_stream, \
                    nvshmemx_##NAME##_wait_until_all_vector_on_stream, nvshmem_##NAME##_put});
#define SIZE(BITS)                                                                                         \
    check_size<BITS>(nvshmem_put##BITS, nvshmem_get##BITS, nvshmemx_put##BITS##_on_stream,                 \
                     nvshmemx_get##BITS##_on_stream, nvshmemx_put##BITS##_signal_on_stream);               \
    check_size<BITS>(nvshmem_put##BITS##_nbi, nvshmem_get##BITS##_nbi, nvshmemx_put##BITS##_nbi_on_stream, \
                     nvshmemx_get##BITS##_nbi_on_stream, nvshmemx_put##BITS##_signal_nbi_on_stream);

#define BIT_TYPES(DO)                                                                                        \
    DO(uchar, unsigned char)                                                                                 \
    DO(ushort, unsigned short)                                                                               \
    DO(uint, unsigned int)                                                                                   \
    DO(ulong, unsigned long)                                                                                 \
    DO(ulonglong, unsigned long long) DO(int8, int8_t) DO(int16, int16_t) DO(int32, int32_t)                 \
        DO(int64, int64_t) DO(uint8, uint8_t) DO(uint16, uint16_t) DO(uint32, uint32_t) DO(uint64, uint64_t) \
            DO(size, size_t)
#define NUMBER_TYPES(DO)   \
    BIT_TYPES(DO)          \
    DO(char, char)         \
    DO(schar, signed char) \
    DO(short, short) DO(int, int) DO(long, long) DO(longlong, long long) DO(float, float) DO(double, double)
#define ATOMIC_BIT_TYPES(DO)          \
    DO(uint, unsigned int)            \
    DO(ulong, unsigned long)          \
    DO(ulonglong, unsigned long long) \
    DO(int32, int32_t) DO(uint32, uint32_t) DO(int64, int64_t) DO(uint64, uint64_t)
#define ATOMIC_TYPES(DO) \
    ATOMIC_BIT_TYPES(DO) \
    DO(int, int) DO(long, long) DO(longlong, long long) DO(size, size_t) DO(ptrdiff, ptrdiff_t)

}  // namespace

int main() {
    nvshmem_init();
    me = nvshmem_my_pe();
    n = nvshmem_n_pes();
    NUMBER_TYPES(RMA)
    RMA(ptrdiff, ptrdiff_t)
    NUMBER_TYPES(REDUCTIONS)
    BIT_TYPES(BIT_REDUCTIONS)
    ATOMIC_TYPES(ATOMICS)
    ATOMICS(float, float)
    ATOMICS(double, double)
    ATOMIC_TYPES(SUMS)
    FLOAT_SUMS(float, float)
    FLOAT_SUMS(double, double)
    ATOMIC_BIT_TYPES(BITWISE)
    ATOMIC_TYPES(WAITS)
    WAITS(short, short)
    WAITS(ushort, unsigned short)
    SIZE(8)
    SIZE(16)
    SIZE(32)
    SIZE(64)
    SIZE(128)
    nvshmem_finalize();
    return 0;
}
