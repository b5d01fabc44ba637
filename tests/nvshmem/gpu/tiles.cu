// NVSHMEM's tiles and rare functions in kernels, as programs of NVSHMEM call them. Layouts are known when
// compiling or not, of two and three modes, with and without boundaries. Without ATOLL_TEST_ALL_TYPES it has
// the scopes that compile fast.
#include "support.cuh"

namespace {

constexpr int rows = 16, cols = 24, pitch = 32, room = 4 * rows * pitch, threads = 256;
using Dynamic = cuda::std::tuple<int, int>;
using None = cuda::std::tuple<>;

template <class T> __device__ T value_of(int pe, int i) {
    return static_cast<T>(static_cast<float>(1 + (pe * 3 + i) % 11));
}
template <class T> __device__ float sum_of(int i) {
    float total = 0;
    for (int pe = 0; pe < nvshmem_n_pes(); ++pe) total += static_cast<float>(value_of<T>(pe, i));
    return total;
}

/// Fills src by number of the element, and dst with -1. All PEs then meet.
template <class T> __device__ void fill(T* dst, T* src) {
    nvshmemx_barrier_all_block();
    for (int i = threadIdx.x; i < room; i += blockDim.x) {
        src[i] = value_of<T>(nvshmem_my_pe(), i);
        dst[i] = static_cast<T>(-1.0f);
    }
    nvshmemx_barrier_all_block();
}
/// Checks that element i, in row r and column c, is expected(i) where `moved(r, c)`, and -1 elsewhere.
template <class T, class Moved, class Expected>
__device__ void expect(const T* dst, int line, int* wrong, Moved moved, Expected expected) {
    for (int i = threadIdx.x; i < rows * pitch; i += blockDim.x) {
        const int r = i / pitch, c = i % pitch;
        const float wanted = c < cols && moved(r, c) ? expected(i) : -1.0f;
        if (static_cast<float>(dst[i]) != wanted) atomicCAS(wrong, 0, line);
    }
    __syncthreads();
}

#define SCOPE(NAME, SUFFIX, CALLS)                                                                           \
    struct NAME {                                                                                            \
        static __device__ bool calls() { return CALLS; }                                                     \
        template <class S, class D, class C> static __device__ int put(S s, D d, C from, C to, int pe) {     \
            return nvshmemx::tile_put##SUFFIX<S, D, C, nvshmemx::PEER_PUSH_NBI>(s, d, from, to, pe, 0);      \
        }                                                                                                    \
        template <class S, class D, class C> static __device__ int get(S s, D d, C from, C to, int pe) {     \
            return nvshmemx::tile_get##SUFFIX<S, D, C, nvshmemx::PEER_PULL_NBI>(s, d, from, to, pe, 0);      \
        }                                                                                                    \
        template <class S, class D, class C> static __device__ int sum(S s, D d, C from, C to) {             \
            constexpr auto algo = nvshmemx::NVLS_ONE_SHOT_PULL_NBI;                                          \
            return nvshmemx::tile_sum_reduce##SUFFIX<S, D, C, algo>(NVSHMEM_TEAM_WORLD, s, d, from, to, 0) | \
                   nvshmemx::tile_collective_wait##SUFFIX<algo>(NVSHMEM_TEAM_WORLD, 0);                      \
        }                                                                                                    \
        template <class S, class D, class C>                                                                 \
        static __device__ int max_by(S s, D d, C from, C to, int root) {                                     \
            constexpr auto algo = nvshmemx::NVLS_TWO_SHOT_PUSH_NBI;                                          \
            return nvshmemx::tile_max_reduce##SUFFIX<S, D, C, algo>(NVSHMEM_TEAM_WORLD, s, d, from, to,      \
                                                                    root, 0) |                               \
                   nvshmemx::tile_collective_wait##SUFFIX<algo>(NVSHMEM_TEAM_WORLD, 0);                      \
        }                                                                                                    \
        template <class S, class D, class C>                                                                 \
        static __device__ int min_at(S s, D d, C from, C to, int root) {                                     \
            constexpr auto algo = nvshmemx::NVLS_ONE_SHOT_PULL_NBI;                                          \
            return nvshmemx::tile_min_rooted_reduce##SUFFIX<S, D, C, algo>(NVSHMEM_TEAM_WORLD, s, d, from,   \
                                                                           to, root, 0) |                    \
                   nvshmemx::tile_collective_wait##SUFFIX<algo>(NVSHMEM_TEAM_WORLD, 0);                      \
        }                                                                                                    \
        template <class S, class D, class C>                                                                 \
        static __device__ int send(S s, D d, C from, C to, bool is_root) {                                   \
            constexpr auto algo = nvshmemx::NVLS_ONE_SHOT_PUSH_NBI;                                          \
            const int sent = is_root ? nvshmemx::tile_broadcast##SUFFIX<S, D, C, algo>(NVSHMEM_TEAM_WORLD,   \
                                                                                       s, d, from, to, 0)    \
                                     : 0;                                                                    \
            return sent | nvshmemx::tile_collective_wait##SUFFIX<algo>(NVSHMEM_TEAM_WORLD, 0);               \
        }                                                                                                    \
        template <class S, class D, class C> static __device__ int gather(S s, D d, C from, C to) {          \
            constexpr auto algo = nvshmemx::NVLS_ONE_SHOT_PUSH_NBI;                                          \
            return nvshmemx::tile_allgather##SUFFIX<S, D, C, algo>(NVSHMEM_TEAM_WORLD, s, d, from, to, 0) |  \
                   nvshmemx::tile_collective_wait##SUFFIX<algo>(NVSHMEM_TEAM_WORLD, 0);                      \
        }                                                                                                    \
    };
#if defined(ATOLL_TEST_ALL_TYPES)
SCOPE(OneThread, , threadIdx.x == 0)
SCOPE(OneWarp, _warp, threadIdx.x < 32)
#endif
SCOPE(SecondWarpgroup, _warpgroup, threadIdx.x >= 128)
SCOPE(WholeBlock, _block, true)

/// All calls of a scope on a matrix of `rows` x `cols`, whose rows are `pitch` apart.
template <class Scope, class T, class Layout, class Coord>
__device__ void calls(T* dst, T* src, int* wrong, Layout layout, Coord start, Coord boundary, int last_col) {
    const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes(), right = (pe + 1) % pes,
              left = (pe + pes - 1) % pes;
    const nvshmemx::Tensor<T, Layout> from(src, layout), to(dst, layout);
    const auto inside = [&](int, int c) { return c < last_col; };
    const auto make = [&](int line, auto&& call, auto&& moved, auto&& expected) {
        fill(dst, src);
        if (Scope::calls() && call() != 0) atomicCAS(wrong, 0, line);
        nvshmemx_barrier_all_block();
        expect(dst, line, wrong, moved, expected);
    };
    make(
        __LINE__, [&] { return Scope::put(from, to, start, boundary, right); }, inside,
        [&](int i) { return static_cast<float>(value_of<T>(left, i)); });
    make(
        __LINE__, [&] { return Scope::get(from, to, start, boundary, right); }, inside,
        [&](int i) { return static_cast<float>(value_of<T>(right, i)); });
    make(
        __LINE__, [&] { return Scope::sum(from, to, start, boundary); }, inside,
        [&](int i) { return sum_of<T>(i); });
    const auto most = [&](int i) {
        float found = 0;
        for (int k = 0; k < pes; ++k) found = fmaxf(found, static_cast<float>(value_of<T>(k, i)));
        return found;
    };
    make(
        __LINE__, [&] { return Scope::max_by(from, to, start, boundary, pes - 1); }, inside, most);
    const auto least = [&](int i) {
        float found = 99;
        for (int k = 0; k < pes; ++k) found = fminf(found, static_cast<float>(value_of<T>(k, i)));
        return found;
    };
    make(
        __LINE__, [&] { return Scope::min_at(from, to, start, boundary, 0); },
        [&](int r, int c) { return pe == 0 && inside(r, c); }, least);
    make(
        __LINE__, [&] { return Scope::send(from, to, start, boundary, pe == pes - 1); }, inside,
        [&](int i) { return static_cast<float>(value_of<T>(pes - 1, i)); });
}

template <class Scope, class T>
__global__ void __launch_bounds__(threads) of_scope(T* dst, T* src, int* wrong) {
    using namespace nvshmemx;
    const auto known = make_layout(make_shape(ConstInt<rows>{}, ConstInt<cols>{}),
                                   make_stride(ConstInt<pitch>{}, ConstInt<1>{}));
    calls<Scope>(dst, src, wrong, known, None{}, None{}, cols);
    const auto given = make_layout(make_shape(rows, cols), make_stride(pitch, 1));
    // The matrix begins at column 100 of an array of 113 columns: 13 of it are inside.
    calls<Scope>(dst, src, wrong, given, Dynamic{0, 100}, Dynamic{rows, 113}, 13);

    // Each PE's matrix below the one before.
    fill(dst, src);
    const auto tall = make_layout(make_shape(rows * nvshmem_n_pes(), ConstInt<cols>{}),
                                  make_stride(ConstInt<pitch>{}, ConstInt<1>{}));
    if (nvshmem_n_pes() <= 4 && Scope::calls()) {
        const Tensor<T, decltype(known)> from(src, known);
        const Tensor<T, decltype(tall)> to(dst, tall);
        CHECK(Scope::gather(from, to, None{}, None{}) == 0);
    }
    nvshmemx_barrier_all_block();
    for (int i = threadIdx.x; nvshmem_n_pes() <= 4 && i < rows * nvshmem_n_pes() * pitch; i += blockDim.x)
        if (i % pitch < cols)
            CHECK(static_cast<float>(dst[i]) ==
                  static_cast<float>(value_of<T>(i / (rows * pitch), i % (rows * pitch))));

    // Three modes, whose first has no gaps.
    fill(dst, src);
    const auto cube = make_layout(make_shape(ConstInt<8>{}, 5, 6), make_stride(ConstInt<1>{}, 8, 40));
    const Tensor<T, decltype(cube)> from(src, cube), to(dst, cube);
    if (Scope::calls()) CHECK(Scope::sum(from, to, None{}, None{}) == 0);
    __syncthreads();
    for (int i = threadIdx.x; i < 240; i += blockDim.x) CHECK(static_cast<float>(dst[i]) == sum_of<T>(i));
    nvshmemx_barrier_all_block();

    // NVSHMEM refuses it by a number.
    const Tensor<T, decltype(cube)> nowhere(nullptr, cube);
    if (Scope::calls()) CHECK(Scope::put(nowhere, to, None{}, None{}, 0) == NVSHMEMX_ERROR_INVALID_VALUE);
}

template <class Scope, class T> void run(const char* what) {
    auto* dst = symmetric<T>(room);
    auto* src = symmetric<T>(room);
    launch(what, of_scope<Scope, T>, threads, dst, src, wrong);
    nvshmem_free(src);
    nvshmem_free(dst);
}

// Halves, warp groups, and the largest pair.
__global__ void rare(__half* halves, double2* pairs, int* wrong) {
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    if (threadIdx.x == 0) {
        nvshmemx_half_atomic_add(halves, __float2half(0.5f), 0);
        const float before = __half2float(nvshmemx_half_atomic_fetch_add(halves + 1, __float2half(2.0f), 0));
        CHECK(before >= 0.0f && before < 2.0f * static_cast<float>(n));
        nvshmem_half_atomic_set(halves + 3, __int2half_rn(me + 1), me);
        CHECK(__half2float(nvshmem_half_atomic_fetch(halves + 3, me)) == static_cast<float>(me + 1));
        const __half old = nvshmem_half_atomic_swap(halves + 5, __int2half_rn(7), me);
        CHECK(__half2float(old) == 0.0f && __half2float(halves[5]) == 7.0f &&
              __half2float(halves[4]) == 0.0f);
        pairs[1] = make_double2(me == n / 2 ? 5.0 : -1.0, me);
    }
    nvshmemx_barrier_all_block();
    CHECK(__half2float(nvshmem_half_g(halves, 0)) == 0.5f * static_cast<float>(n));
    CHECK(__half2float(nvshmem_half_g(halves + 1, 0)) == 2.0f * static_cast<float>(n));
    if (threadIdx.x < 128) CHECK(nvshmemx_barrier_warpgroup(NVSHMEM_TEAM_WORLD) == 0);
    __syncthreads();
    CHECK(nvshmemx_double2_maxloc_reduce_block(NVSHMEM_TEAM_WORLD, pairs, pairs + 1, 1) == 0);
    CHECK(pairs[0].x == 5.0 && pairs[0].y == n / 2);
}
void check_rare() {
    auto* halves = symmetric<__half>(6);
    auto* pairs = symmetric<double2>(2);
    launch("halves, warp groups and pairs", rare, 160, halves, pairs, wrong);
    nvshmem_free(halves);
    nvshmem_free(pairs);
}

}  // namespace

int main() {
    if (!begin()) return 0;
#if defined(ATOLL_TEST_ALL_TYPES)
    run<OneThread, float>("a thread");
    run<OneWarp, __half>("a warp");
#endif
    run<SecondWarpgroup, __nv_bfloat16>("a warp group");
    run<WholeBlock, float>("a block");
    check_rare();
    nvshmem_finalize();
    return 0;
}
