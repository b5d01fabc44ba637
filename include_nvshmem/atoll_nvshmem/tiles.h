/* NVSHMEM's tiles for kernels: nvshmemx::tile_* on tensors of any number of modes. CUDA's `cuda::std` has the
 * tuples. */
#ifndef ATOLL_NVSHMEM_TILES_H
#define ATOLL_NVSHMEM_TILES_H
#if defined(__CUDACC__)

#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

/* An int that the compiler knows. */
template <int v> struct ConstInt : cuda::std::integral_constant<int, v> {
    ATOLL_ANYWHERE constexpr operator int() const { return v; }  // NOLINT(google-explicit-constructor)
};

namespace nvshmemx {

template <class... Shapes> using shape = cuda::std::tuple<Shapes...>;
template <class... Strides> using stride = cuda::std::tuple<Strides...>;
template <class... Ts> ATOLL_ANYWHERE constexpr shape<Ts...> make_shape(const Ts&... extents) {
    return {extents...};
}
template <class... Ts> ATOLL_ANYWHERE constexpr stride<Ts...> make_stride(const Ts&... distances) {
    return {distances...};
}

/* The extent and stride of each mode, in elements. A tuple holds them, so that constants take no room. */
template <class Shape, class Stride> struct Layout : private cuda::std::tuple<Shape, Stride> {
    using Both = cuda::std::tuple<Shape, Stride>;
    ATOLL_ANYWHERE constexpr Layout(const Shape& extents = {},  // NOLINT(google-explicit-constructor)
                                    const Stride& distances = {})
        : Both(extents, distances) {}
    ATOLL_ANYWHERE constexpr Shape shape() const { return cuda::std::get<0>(both()); }
    ATOLL_ANYWHERE constexpr Stride stride() const { return cuda::std::get<1>(both()); }

  private:
    ATOLL_ANYWHERE constexpr const Both& both() const { return *this; }
};
template <class Shape, class Stride>
ATOLL_ANYWHERE constexpr Layout<Shape, Stride> make_layout(const Shape& extents, const Stride& distances) {
    return {extents, distances};
}

template <class T, class L> struct Tensor {
    using value_type = T;
    using layout_type = L;
    T* _data;
    const L _layout;

    ATOLL_ANYWHERE constexpr Tensor(T* data, L layout) : _data(data), _layout(layout) {}
    ATOLL_ANYWHERE constexpr Tensor(L layout)
        : Tensor(nullptr, layout) {}  // NOLINT(google-explicit-constructor)
    ATOLL_ANYWHERE constexpr L layout() const { return _layout; }
    ATOLL_ANYWHERE constexpr T* data() const { return _data; }
    ATOLL_ANYWHERE constexpr auto stride() const { return _layout.stride(); }
    ATOLL_ANYWHERE constexpr auto shape() const { return _layout.shape(); }
};

/* Here names only: no algorithm uses multicast. ONE_SHOT_PULL folds at each PE that gets the result.
 * TWO_SHOT_PUSH folds at the root, which sends it. */
typedef enum {
    NVLS_ONE_SHOT_PUSH_NBI = 0,
    NVLS_ONE_SHOT_PULL_NBI = 1,
    NVLS_TWO_SHOT_PUSH_NBI = 2,
    NVLS_TWO_SHOT_PULL_NBI = 3,
    NVSHMEMI_TILE_COLL_ALGO_SENTINEL = INT_MAX
} tile_coll_algo_t;
typedef enum {
    PEER_PUSH_NBI = 0,
    PEER_PULL_NBI = 0,
    REMOTE_PUSH_NBI = 1,
    REMOTE_PULL_NBI = 1,
    NVSHMEMI_TILE_ALGO_SENTINEL = INT_MAX
} tile_algo_t;

}  // namespace nvshmemx

#include "atoll_nvshmem/tile_bodies.h"

namespace nvshmemx {

#define ATOLL_NVSHMEM_TILES(SUFFIX, SCOPE)                                                              \
    template <class S, class D, class C, tile_algo_t algo>                                              \
    __device__ int tile_put##SUFFIX(S src, D dst, C start_coord, C boundary, int pe, uint64_t flag) {   \
        return atl::nvshmem_kernel::tile_put(src, dst, start_coord, boundary, pe, flag, SCOPE{});       \
    }                                                                                                   \
    template <class S, class D, class C, tile_algo_t algo>                                              \
    __device__ int tile_get##SUFFIX(S src, D dst, C start_coord, C boundary, int pe, uint64_t flag) {   \
        return atl::nvshmem_kernel::tile_get(src, dst, start_coord, boundary, pe, flag, SCOPE{});       \
    }                                                                                                   \
    template <class S, class D, class C, tile_coll_algo_t algo>                                         \
    __device__ int tile_allgather##SUFFIX(nvshmem_team_t team, S src, D dst, C start_coord, C boundary, \
                                          uint64_t flag) {                                              \
        return atl::nvshmem_kernel::tile_allgather<algo>(team, src, dst, start_coord, boundary, flag,   \
                                                         SCOPE{});                                      \
    }                                                                                                   \
    template <class S, class D, class C, tile_coll_algo_t algo>                                         \
    __device__ int tile_broadcast##SUFFIX(nvshmem_team_t team, S src, D dst, C start_coord, C boundary, \
                                          uint64_t flag) {                                              \
        return atl::nvshmem_kernel::tile_broadcast<algo>(team, src, dst, start_coord, boundary, flag,   \
                                                         SCOPE{});                                      \
    }                                                                                                   \
    template <tile_coll_algo_t algo>                                                                    \
    __device__ int tile_collective_wait##SUFFIX(nvshmem_team_t team, uint64_t flag) {                   \
        return atl::nvshmem_kernel::tile_collective_wait<algo>(team, flag, SCOPE{});                    \
    }                                                                                                   \
    ATOLL_NVSHMEM_TILE_REDUCTION(sum, Sum, SUFFIX, SCOPE)                                               \
    ATOLL_NVSHMEM_TILE_REDUCTION(max, Max, SUFFIX, SCOPE)                                               \
    ATOLL_NVSHMEM_TILE_REDUCTION(min, Min, SUFFIX, SCOPE)

/* With a root and without one. NVSHMEM 3.4 names it allreduce. */
#define ATOLL_NVSHMEM_TILE_ALL_REDUCTION(NAME, OP, SUFFIX, SCOPE)                                        \
    template <class S, class D, class C, tile_coll_algo_t algo>                                          \
    __device__ int tile_##NAME##SUFFIX(nvshmem_team_t team, S src, D dst, C start_coord, C boundary,     \
                                       int root, uint64_t flag) {                                        \
        return atl::nvshmem_kernel::tile_reduce<algo>(team, src, dst, start_coord, boundary, root, flag, \
                                                      atl::device::OP{}, SCOPE{});                       \
    }                                                                                                    \
    template <class S, class D, class C, tile_coll_algo_t algo>                                          \
    __device__ int tile_##NAME##SUFFIX(nvshmem_team_t team, S src, D dst, C start_coord, C boundary,     \
                                       uint64_t flag) {                                                  \
        return atl::nvshmem_kernel::tile_reduce<algo>(team, src, dst, start_coord, boundary, -1, flag,   \
                                                      atl::device::OP{}, SCOPE{});                       \
    }
#define ATOLL_NVSHMEM_TILE_REDUCTION(NAME, OP, SUFFIX, SCOPE)                                             \
    ATOLL_NVSHMEM_TILE_ALL_REDUCTION(NAME##_reduce, OP, SUFFIX, SCOPE)                                    \
    ATOLL_NVSHMEM_TILE_ALL_REDUCTION(NAME##_allreduce, OP, SUFFIX, SCOPE)                                 \
    template <class S, class D, class C, tile_coll_algo_t algo>                                           \
    __device__ int tile_##NAME##_rooted_reduce##SUFFIX(nvshmem_team_t team, S src, D dst, C start_coord,  \
                                                       C boundary, int root, uint64_t flag) {             \
        return atl::nvshmem_kernel::tile_rooted_reduce<algo>(team, src, dst, start_coord, boundary, root, \
                                                             flag, atl::device::OP{}, SCOPE{});           \
    }

ATOLL_NVSHMEM_TILES(, atl::device::Thread)
ATOLL_NVSHMEM_TILES(_warp, atl::device::Warp)
ATOLL_NVSHMEM_TILES(_warpgroup, atl::device::Warpgroup)
ATOLL_NVSHMEM_TILES(_block, atl::device::Block)
#undef ATOLL_NVSHMEM_TILES
#undef ATOLL_NVSHMEM_TILE_REDUCTION
#undef ATOLL_NVSHMEM_TILE_ALL_REDUCTION

}  // namespace nvshmemx

#endif
#endif
