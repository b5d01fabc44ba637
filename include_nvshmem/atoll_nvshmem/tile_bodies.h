/* Bodies of NVSHMEM's functions for tiles. A collective's data are there after tile_collective_wait, and its
 * source may be written after a barrier, as in NVSHMEM. */
#ifndef ATOLL_NVSHMEM_TILE_BODIES_H
#define ATOLL_NVSHMEM_TILE_BODIES_H
#if defined(__CUDACC__)

namespace atl::nvshmem_kernel {

using nvshmemx::tile_coll_algo_t;

template <class Tuple> constexpr int modes_of = static_cast<int>(cuda::std::tuple_size<Tuple>::value);

/// Number of elements of a mode that lie before the boundary. An empty class, a tuple or not, has none.
template <int mode, class Coord>
ATOLL_ANYWHERE constexpr unsigned valid_extent(int extent, const Coord& start, const Coord& boundary) {
    if constexpr (!cuda::std::is_empty<Coord>::value) {
        if constexpr (mode < modes_of<Coord>) {
            const int left = static_cast<int>(cuda::std::get<mode>(boundary)) -
                             static_cast<int>(cuda::std::get<mode>(start));
            return static_cast<unsigned>(left <= 0 ? 0 : left < extent ? left : extent);
        }
    }
    return static_cast<unsigned>(extent);
}

template <class Tensor>
constexpr int modes_of_tensor = modes_of<decltype(cuda::std::declval<Tensor>().shape())>;

template <class Tensor, class Extents, class Coord, cuda::std::size_t... mode>
__device__ auto tile_of(Tensor tensor, const Extents& extents, const Coord& start, const Coord& boundary,
                        cuda::std::index_sequence<mode...>) {
    const auto strides = tensor.stride();
    using T = cuda::std::remove_pointer_t<decltype(tensor.data())>;
    return device::TileOf<T, static_cast<int>(sizeof...(mode))>{
        tensor.data(),
        {valid_extent<static_cast<int>(mode)>(static_cast<int>(cuda::std::get<mode>(extents)), start,
                                              boundary)...},
        {static_cast<long long>(cuda::std::get<mode>(strides))...}};
}

/// Source and destination of a move of the elements of `src` that lie before the boundary.
template <class D, class S> struct TilePair {
    D dst;
    S src;
};
template <class S, class D, class Coord>
__device__ auto tiles_of(S src, D dst, const Coord& start, const Coord& boundary) {
    static_assert(cuda::std::is_same<typename S::value_type, typename D::value_type>::value,
                  "the tensors have one type of elements");
    static_assert(modes_of_tensor<S> == modes_of_tensor<D>, "the tensors have one number of modes");
    using All = cuda::std::make_index_sequence<modes_of_tensor<S>>;
    auto to = tile_of(dst, src.shape(), start, boundary, All{});
    auto from = tile_of(src, src.shape(), start, boundary, All{});
    return TilePair<decltype(to), decltype(from)>{to, from};
}

template <class Tensor, cuda::std::size_t... mode>
ATOLL_ANYWHERE constexpr long long elements_of(const Tensor& tensor, cuda::std::index_sequence<mode...>) {
    const auto extents = tensor.shape();
    return (1LL * ... * static_cast<long long>(cuda::std::get<mode>(extents)));
}
/// True if a call is valid: tensors with memory, `dst` with the elements of `times` sources, no flag.
template <class S, class D>
__device__ bool accepts_tiles(const S& src, const D& dst, int times, uint64_t flag) {
    using All = cuda::std::make_index_sequence<modes_of_tensor<S>>;
    return src.data() && dst.data() && flag == 0 &&
           elements_of(src, All{}) * times == elements_of(dst, All{});
}

template <class S, class D, class Coord, class Scope>
__device__ int tile_put(S src, D dst, const Coord& start, const Coord& boundary, int pe, uint64_t flag,
                        Scope scope) {
    if (!accepts_tiles(src, dst, 1, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
    const auto tiles = tiles_of(src, dst, start, boundary);
    device::tile_put(known_world(), tiles.dst, tiles.src, pe, scope);
    return NVSHMEMX_SUCCESS;
}
template <class S, class D, class Coord, class Scope>
__device__ int tile_get(S src, D dst, const Coord& start, const Coord& boundary, int pe, uint64_t flag,
                        Scope scope) {
    if (!accepts_tiles(src, dst, 1, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
    const auto tiles = tiles_of(src, dst, start, boundary);
    device::tile_get(known_world(), tiles.dst, tiles.src, pe, scope);
    return NVSHMEMX_SUCCESS;
}

/// The team of a collective; its members write each other's memory, so all are on this host.
template <class Scope>
__device__ const Team& tile_team(nvshmem_team_t number, device::Operation operation, Scope scope) {
    const Team& team = team_for(number, scope);
    device::detail::check_near(team, operation);
    return team;
}

/// Offset of a member's part in the gathered tensor: along the contiguous mode until that is full, then along
/// the other.
template <class S, class D>
__device__ long long gathered_offset(const S& src, const D& dst, const int (&extent)[2], int my_pe) {
    const int major = src.stride[1] == 1 && dst.stride[1] == 1 ? 1 : 0, minor = 1 - major;
    const long long along = static_cast<long long>(my_pe) * src.extent[major];
    return along % extent[major] * dst.stride[major] +
           along / extent[major] * src.extent[minor] * dst.stride[minor];
}
template <tile_coll_algo_t algo, class S, class D, class Coord, class Scope>
__device__ int tile_allgather(nvshmem_team_t number, S src, D dst, const Coord& start, const Coord& boundary,
                              uint64_t flag, Scope scope) {
    static_assert(algo == nvshmemx::NVLS_ONE_SHOT_PUSH_NBI,
                  "tile_allgather has the algorithm NVLS_ONE_SHOT_PUSH_NBI");
    static_assert(modes_of_tensor<S> == 2, "tile_allgather gathers tensors of two modes");
    const Team& team = tile_team(number, device::Operation::tile_allgather, scope);
    if (!accepts_tiles(src, dst, team.n_pes, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
    const auto whole = tiles_of(src, dst, cuda::std::tuple<>{}, cuda::std::tuple<>{});
    const auto gathered = dst.shape();
    const int extent[2] = {static_cast<int>(cuda::std::get<0>(gathered)),
                           static_cast<int>(cuda::std::get<1>(gathered))};
    auto tiles = tiles_of(src, dst, start, boundary);
    tiles.dst.data += gathered_offset(whole.src, whole.dst, extent, team.my_pe);
    device::detail::push_modes(team, tiles.dst, tiles.src, scope);
    return NVSHMEMX_SUCCESS;
}
/// The root alone calls it; all members wait.
template <tile_coll_algo_t algo, class S, class D, class Coord, class Scope>
__device__ int tile_broadcast(nvshmem_team_t number, S src, D dst, const Coord& start, const Coord& boundary,
                              uint64_t flag, Scope scope) {
    static_assert(algo == nvshmemx::NVLS_ONE_SHOT_PUSH_NBI,
                  "tile_broadcast has the algorithm NVLS_ONE_SHOT_PUSH_NBI");
    const Team& team = tile_team(number, device::Operation::tile_broadcast, scope);
    if (!accepts_tiles(src, dst, 1, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
    const auto tiles = tiles_of(src, dst, start, boundary);
    device::detail::push_modes(team, tiles.dst, tiles.src, scope);
    return NVSHMEMX_SUCCESS;
}

/// Folds the members' tensors, if `has_root` on the root alone.
template <device::detail::Fold fold, bool has_root, class S, class D, class Coord, class Op, class Scope>
__device__ int fold_tensors(nvshmem_team_t number, device::Operation operation, S src, D dst,
                            const Coord& start, const Coord& boundary, int root, uint64_t flag, Op op,
                            Scope scope) {
    const Team& team = tile_team(number, operation, scope);
    if (!accepts_tiles(src, dst, 1, flag)) return NVSHMEMX_ERROR_INVALID_VALUE;
    if (has_root && static_cast<unsigned>(root) >= static_cast<unsigned>(team.n_pes))
        return NVSHMEMX_ERROR_INVALID_VALUE;
    device::detail::meet(team, scope, device::detail::Call{operation, 0, 0});
    if (has_root && root != team.my_pe) return NVSHMEMX_SUCCESS;
    const auto tiles = tiles_of(src, dst, start, boundary);
    device::detail::fold_modes<fold>(team, tiles.dst, tiles.src, op, scope);
    return NVSHMEMX_SUCCESS;
}
template <tile_coll_algo_t algo, class S, class D, class Coord, class Op, class Scope>
__device__ int tile_reduce(nvshmem_team_t number, S src, D dst, const Coord& start, const Coord& boundary,
                           int root, uint64_t flag, Op op, Scope scope) {
    static_assert(algo == nvshmemx::NVLS_ONE_SHOT_PULL_NBI || algo == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI,
                  "tile_*_reduce has the algorithms NVLS_ONE_SHOT_PULL_NBI and NVLS_TWO_SHOT_PUSH_NBI");
    using device::detail::Fold;
    constexpr bool by_root = algo == nvshmemx::NVLS_TWO_SHOT_PUSH_NBI;
    return fold_tensors < by_root ? Fold::everywhere : Fold::here,
           by_root >
               (number, device::Operation::tile_reduce, src, dst, start, boundary, root, flag, op, scope);
}
template <tile_coll_algo_t algo, class S, class D, class Coord, class Op, class Scope>
__device__ int tile_rooted_reduce(nvshmem_team_t number, S src, D dst, const Coord& start,
                                  const Coord& boundary, int root, uint64_t flag, Op op, Scope scope) {
    static_assert(algo == nvshmemx::NVLS_ONE_SHOT_PULL_NBI,
                  "tile_*_rooted_reduce has the algorithm NVLS_ONE_SHOT_PULL_NBI");
    return fold_tensors<device::detail::Fold::here, true>(number, device::Operation::tile_rooted_reduce, src,
                                                          dst, start, boundary, root, flag, op, scope);
}

/// Elements that this PE folded are there for its scope. Elements that members sent are there after all have
/// arrived.
template <tile_coll_algo_t algo, class Scope>
__device__ int tile_collective_wait(nvshmem_team_t number, uint64_t flag, Scope scope) {
    if (flag != 0) return NVSHMEMX_ERROR_INVALID_VALUE;
    const Team& team = tile_team(number, device::Operation::sync, scope);
    if (algo == nvshmemx::NVLS_ONE_SHOT_PULL_NBI)
        scope.sync();
    else
        device::detail::meet(team, scope, device::detail::Call{device::Operation::sync, 0, 0});
    return NVSHMEMX_SUCCESS;
}

}  // namespace atl::nvshmem_kernel

#endif
#endif
