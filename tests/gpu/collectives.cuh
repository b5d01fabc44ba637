// A collective of one type, for sources that each compile the kernels of a few types: nvcc would take minutes
// for all of them together.
#pragma once

#include "gpu/collectives.hpp"

#include "atoll/device/device.hpp"
#include "atoll/device/half.hpp"
#include "atoll/device/launch.hpp"

#include <stdexcept>

namespace atl::testing {

using device::Team;

template <class Scope> struct Make {
    static __device__ Scope scope(const Team&) { return {}; }
};
template <> struct Make<device::Grid> {
    static __device__ device::Grid scope(const Team& team) { return device::Grid(team); }
};

template <class Scope, class T>
__global__ void collective_kernel(Team team, Collective which, T* dst, const T* src, std::uint64_t count,
                                  int root, std::uint64_t* result) {
    const Scope scope = Make<Scope>::scope(team);
    switch (which) {
        case Collective::broadcast:
            return device::broadcast(team, dst, src, count, root, scope);
        case Collective::fcollect:
            return device::fcollect(team, dst, src, count, scope);
        case Collective::alltoall:
            return device::alltoall(team, dst, src, count, scope);
        case Collective::collect:
            *result = device::collect(team, dst, src, count, scope);
            return;
        case Collective::sum:
            return device::reduce(team, dst, src, count, device::Sum{}, scope);
        case Collective::max:
            return device::reduce(team, dst, src, count, device::Max{}, scope);
        case Collective::sum_scatter:
            return device::reduce_scatter(team, dst, src, count, device::Sum{}, scope);
    }
}

inline void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

template <class T>
void launch_collective(const Team& team, Collective which, Together scope, void* to, const void* from,
                       std::uint64_t count, int root, std::uint64_t* result) {
    T* dst = static_cast<T*>(to);
    const T* src = static_cast<const T*>(from);
    if (scope == Together::warp)
        collective_kernel<device::Warp, T><<<1, 32>>>(team, which, dst, src, count, root, result);
    else if (scope == Together::block)
        collective_kernel<device::Block, T><<<1, 320>>>(team, which, dst, src, count, root, result);
    else
        check(device::cooperative_launch(collective_kernel<device::Grid, T>, dim3(5), dim3(192), 0, nullptr,
                                         team, which, dst, src, count, root, result));
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

}  // namespace atl::testing
