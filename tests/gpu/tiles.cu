#include "gpu/moves.hpp"

#include "atoll/device/device.hpp"
#include "atoll/device/half.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

using device::Team;

template <class T, class Scope> __global__ void tile_kernel(Team team, TileCase c, int pe) {
    const Scope scope{};
    const auto dst = device::make_tile(static_cast<T*>(c.dst), c.rows, c.cols, c.dst_pitch);
    const auto src = device::make_tile(static_cast<const T*>(c.src), c.rows, c.cols, c.src_pitch);
    switch (c.call) {
        case TileCall::put:
            device::tile_put(team, dst, src, pe, scope);
            return device::quiet(team, scope);
        case TileCall::get:
            return device::tile_get(team, dst, src, pe, scope);
        case TileCall::allgather:
            return device::tile_allgather(team, dst, src, scope);
        case TileCall::sum:
            return device::tile_reduce(team, dst, src, device::Sum{}, scope);
        case TileCall::max:
            return device::tile_reduce(team, dst, src, device::Max{}, scope);
    }
}

template <class T> void launch(const Team& team, const TileCase& c, int pe) {
    if (c.scope == Together::warp)
        tile_kernel<T, device::Warp><<<1, 32>>>(team, c, pe);
    else
        tile_kernel<T, device::Block><<<1, 256>>>(team, c, pe);
    cudaError_t result = cudaGetLastError();
    if (result == cudaSuccess) result = cudaDeviceSynchronize();
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void run_tile(const Team& team, const TileCase& c, int pe) {
    if (c.type == TileType::float32)
        launch<float>(team, c, pe);
    else if (c.type == TileType::half)
        launch<__half>(team, c, pe);
    else
        launch<__nv_bfloat16>(team, c, pe);
}

}  // namespace atl::testing
