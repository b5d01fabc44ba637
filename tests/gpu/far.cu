#include "gpu/far.hpp"

#include "atoll/device/device.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

using device::Team;

__device__ void expect(bool holds, int* errors) {
    if (!holds) atomicAdd(errors, 1);
}

__global__ void crowd_kernel(Team team, std::uint64_t* counts, int* x, int* errors, int pe) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const auto before = device::atomic_fetch_add(team, counts, 1, pe);
    device::atomic_inc(team, counts + 1, pe);
    device::p(team, x + i, i + 1, pe);
    expect(device::atomic_fetch_add(team, counts, 1, pe) > before, errors);
    device::quiet(team);
    expect(device::g(team, x + i, pe) == i + 1, errors);
}

__global__ void exchange_kernel(Team team, int* dst, int* src, std::uint64_t* signal, int n, int rounds,
                                int seed, int theirs, int pe, int* errors) {
    extern __shared__ int shared[];
    const device::Block block;
    const int rank = static_cast<int>(block.rank()), size = static_cast<int>(block.size());
    for (int round = 1; round <= rounds; ++round) {
        const bool is_shared = round % 3 == 0;
        int* from = is_shared ? shared : src;
        for (int i = rank; i < n; i += size) from[i] = round * 1000 + seed + i;
        if (round % 3 == 1) {
            device::put_signal_nbi(team, dst, from, n, signal, 1, SignalOp::add, pe, block);
            device::flush(team, block);
            for (int i = rank; i < n; i += size) from[i] = -1;
        } else {
            device::put_signal(team, dst, from, n, signal, 1, SignalOp::add, pe, block);
        }
        device::signal_wait_until(team, signal, Compare::ge, static_cast<std::uint64_t>(round), block);
        for (int i = rank; i < n; i += size) expect(dst[i] == round * 1000 + theirs + i, errors);
        device::barrier(team, block);  // the data are read before the next put, and src may be reused
    }
}

__global__ void forms_kernel(Team team, std::uint64_t* words, int* x, int pe, bool far, int* errors) {
    expect((device::ptr(team, x, pe) == nullptr) == far, errors);
    auto* bytes = reinterpret_cast<unsigned char*>(words + 8);
    device::p(team, bytes + 1, static_cast<unsigned char>(7), pe);
    device::p(team, reinterpret_cast<unsigned short*>(bytes) + 1, static_cast<unsigned short>(300), pe);
    device::p(team, reinterpret_cast<double*>(words + 9), 2.5, pe);
    int own[300], back[300] = {};
    for (int i = 0; i < 300; ++i) own[i] = 3 * i;
    device::put(team, x, own, 300, pe);  // the source is on the stack, so it is sent in pieces
    device::quiet(team);
    expect(device::g(team, bytes + 1, pe) == 7, errors);
    expect(device::g(team, reinterpret_cast<unsigned short*>(bytes) + 1, pe) == 300, errors);
    expect(device::g(team, reinterpret_cast<double*>(words + 9), pe) == 2.5, errors);
    device::get(team, back, x, 300, pe);
    for (int i = 0; i < 300; ++i) expect(back[i] == 3 * i, errors);
    device::iput(team, x, own, 3, 2, 20, pe);
    device::quiet(team);
    device::iget(team, back, x, 1, 3, 20, pe);
    for (int i = 0; i < 20; ++i) expect(back[i] == 6 * i, errors);
    expect(device::atomic_swap(team, words, 5, pe) == 0, errors);
    expect(device::atomic_compare_swap(team, words, 4, 6, pe) == 5, errors);
    expect(device::atomic_compare_swap(team, words, 5, 6, pe) == 5, errors);
    expect(device::atomic_fetch_xor(team, words, 3, pe) == 6, errors);
    device::atomic_add(team, reinterpret_cast<float*>(words + 1), 0.5f, pe);
    device::atomic_or(team, words, 8, pe);
    device::quiet(team);
    expect(device::atomic_fetch(team, words, pe) == 13, errors);
    expect(device::atomic_fetch(team, reinterpret_cast<float*>(words + 1), pe) == 0.5f, errors);
}

__global__ void meet_kernel(Team team, int* x, int rounds, int* errors) {
    const device::Block block;
    for (int round = 1; round <= rounds; ++round) {
        if (block.rank() < static_cast<unsigned>(team.n_pes))
            device::p(team, x + team.my_pe, 10 * round + team.my_pe, static_cast<int>(block.rank()));
        device::barrier(team, block);
        if (block.rank() < static_cast<unsigned>(team.n_pes)) {
            const int i = static_cast<int>(block.rank());
            expect(device::load_relaxed(x + i) == 10 * round + i, errors);
        }
        device::sync(team, block);
    }
}

void finish() {
    cudaError_t result = cudaGetLastError();
    if (result == cudaSuccess) result = cudaDeviceSynchronize();
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void far_crowd(const Team& team, std::uint64_t* counts, int* x, int* errors, int blocks, int pe) {
    crowd_kernel<<<static_cast<unsigned>(blocks), 64>>>(team, counts, x, errors, pe);
    finish();
}

void far_exchange(const Team& team, int* dst, int* src, std::uint64_t* signal, int n, int rounds, int seed,
                  int theirs, int pe, int* errors) {
    exchange_kernel<<<1, 128, static_cast<std::size_t>(n) * sizeof(int)>>>(team, dst, src, signal, n, rounds,
                                                                           seed, theirs, pe, errors);
    finish();
}

void far_forms(const Team& team, std::uint64_t* words, int* x, int pe, bool far, int* errors) {
    forms_kernel<<<1, 1>>>(team, words, x, pe, far, errors);
    finish();
}

void far_meet(const Team& team, int* x, int rounds, int* errors) {
    meet_kernel<<<1, 64>>>(team, x, rounds, errors);
    finish();
}

}  // namespace atl::testing
