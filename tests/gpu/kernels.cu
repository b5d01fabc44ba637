#include "gpu/kernels.hpp"

#include "atoll/device/device.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

using device::Team;

__global__ void store_kernel(Team team, double* x) {
    const int pe = static_cast<int>(threadIdx.x);
    if (pe < team.n_pes) device::p(team, x + team.my_pe, 100.0 * team.my_pe + pe, pe);
}

__global__ void load_kernel(Team team, const double* x, double* sum) {
    double total = 0;
    for (int pe = 0; pe < team.n_pes; ++pe)
        for (int i = 0; i < team.n_pes; ++i) total += device::g(team, x + i, pe);
    *sum = total;
}

template <class Scope>
__global__ void put_kernel(Team team, unsigned char* dst, const unsigned char* src, std::uint64_t bytes,
                           int pe) {
    device::put(team, dst, src, bytes, pe, Scope{});
}

template <class Scope>
__global__ void get_kernel(Team team, unsigned char* dst, const unsigned char* src, std::uint64_t bytes,
                           int pe) {
    device::get(team, dst, src, bytes, pe, Scope{});
}

__global__ void ring_kernel(Team team, int* data, std::uint64_t* signal, std::uint64_t* credit, int n,
                            int rounds, int* errors) {
    extern __shared__ int mine[];
    const device::Block block;
    const int right = (team.my_pe + 1) % team.n_pes;
    const int left = (team.my_pe + team.n_pes - 1) % team.n_pes;
    for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(rounds); ++round) {
        for (int i = static_cast<int>(block.rank()); i < n; i += static_cast<int>(block.size()))
            mine[i] = static_cast<int>(round) * 16 + team.my_pe;
        device::signal_wait_until(team, credit, device::Compare::ge, round - 1, block);
        device::put_signal(team, data, mine, static_cast<std::uint64_t>(n), signal, round, right, block);
        device::signal_wait_until(team, signal, device::Compare::ge, round, block);
        for (int i = static_cast<int>(block.rank()); i < n; i += static_cast<int>(block.size()))
            if (data[i] != static_cast<int>(round) * 16 + left) atomicAdd(errors, 1);
        block.sync();
        if (block.rank() == 0) device::signal_set(team, credit, round, left);
    }
}

void finish() {
    cudaError_t result = cudaGetLastError();
    if (result == cudaSuccess) result = cudaDeviceSynchronize();
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void store_to_all(const Team& team, double* x) {
    store_kernel<<<1, 32>>>(team, x);
    finish();
}

void load_from_all(const Team& team, const double* x, double* sum) {
    load_kernel<<<1, 1>>>(team, x, sum);
    finish();
}

void put_bytes(const Team& team, unsigned char* dst, const unsigned char* src, std::uint64_t bytes, int pe,
               Together scope) {
    switch (scope) {
        case Together::thread:
            put_kernel<device::Thread><<<1, 1>>>(team, dst, src, bytes, pe);
            break;
        case Together::warp:
            put_kernel<device::Warp><<<1, 32>>>(team, dst, src, bytes, pe);
            break;
        case Together::block:
            put_kernel<device::Block><<<1, 256>>>(team, dst, src, bytes, pe);
    }
    finish();
}

void get_bytes(const Team& team, unsigned char* dst, const unsigned char* src, std::uint64_t bytes, int pe,
               Together scope) {
    switch (scope) {
        case Together::thread:
            get_kernel<device::Thread><<<1, 1>>>(team, dst, src, bytes, pe);
            break;
        case Together::warp:
            get_kernel<device::Warp><<<1, 32>>>(team, dst, src, bytes, pe);
            break;
        case Together::block:
            get_kernel<device::Block><<<1, 256>>>(team, dst, src, bytes, pe);
    }
    finish();
}

void ring(const Team& team, int* data, std::uint64_t* signal, std::uint64_t* credit, int n, int rounds,
          int* errors) {
    ring_kernel<<<1, 128, static_cast<std::size_t>(n) * sizeof(int)>>>(team, data, signal, credit, n, rounds,
                                                                       errors);
    finish();
}

}  // namespace atl::testing
