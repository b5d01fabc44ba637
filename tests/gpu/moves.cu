#include "gpu/moves.hpp"

#include "atoll/device/device.hpp"
#include "atoll/device/launch.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

using device::Compare;
using device::Team;

void check(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}
void finish() {
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
}

template <class T> __device__ T element(std::uint64_t i, int seed) {
    return static_cast<T>((i * 2654435761u + static_cast<unsigned>(seed) * 40503u) >> 7 & 0xff);
}

template <class T> __global__ void fill_kernel(T* x, std::uint64_t n, int seed) {
    for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = element<T>(i, seed);
}
template <class T>
__global__ void check_kernel(const T* x, std::uint64_t n, int seed, int stride, int* errors) {
    int wrong = 0;
    for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        wrong += x[i * static_cast<unsigned>(stride)] != element<T>(i, seed);
    if (wrong) atomicAdd(errors, wrong);
}

__global__ void sums_kernel(const float* x, std::uint64_t from, std::uint64_t n, int seed, int n_seeds,
                            int* errors) {
    int wrong = 0;
    for (std::uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int k = 0; k < n_seeds; ++k) sum += element<float>(from + i, seed + k);
        wrong += x[i] != sum;
    }
    if (wrong) atomicAdd(errors, wrong);
}

template <class Scope> struct Make {
    static __device__ Scope scope(const Team&) { return {}; }
};
template <> struct Make<device::Grid> {
    static __device__ device::Grid scope(const Team& team) { return device::Grid(team); }
};

template <class T, class Scope> __global__ void move_kernel(Team team, Moving m, int pe) {
    const Scope scope = Make<Scope>::scope(team);
    T* dst = static_cast<T*>(m.dst);
    const T* src = static_cast<const T*>(m.src);
    switch (m.move) {
        case Move::put:
            device::put(team, dst, src, m.n, pe, scope);
            return device::quiet(team, scope);
        case Move::get:
            return device::get(team, dst, src, m.n, pe, scope);
        case Move::put_nbi:
            device::put_nbi(team, dst, src, m.n, pe, scope);
            return device::quiet(team, scope);
        case Move::get_nbi:
            device::get_nbi(team, dst, src, m.n, pe, scope);
            return device::quiet(team, scope);
        case Move::async_put:
            device::async_put(team, dst, src, m.n, pe, scope);
            return device::quiet(team, scope);
        case Move::iput:
            device::iput(team, dst, src, 2, 1, m.n, pe, scope);
            return device::quiet(team, scope);
        case Move::iget:
            return device::iget(team, dst, src, 2, 1, m.n, pe, scope);
        case Move::put_signal:
            device::put_signal(team, dst, src, m.n, m.signal, m.epoch, device::SignalOp::set, pe, scope);
            return device::signal_wait_until(team, m.signal, Compare::ge, m.epoch, scope);
    }
}

template <class T> void launch_move(const Team& team, const Moving& m, int pe) {
    if (m.scope == Together::thread)
        move_kernel<T, device::Thread><<<1, 1>>>(team, m, pe);
    else if (m.scope == Together::warp)
        move_kernel<T, device::Warp><<<1, 32>>>(team, m, pe);
    else if (m.scope == Together::block)
        move_kernel<T, device::Block><<<1, 224>>>(team, m, pe);
    else
        check(device::cooperative_launch(move_kernel<T, device::Grid>, dim3(7), dim3(320), 0, nullptr, team,
                                         m, pe));
    finish();
}

__global__ void async_kernel(Team team, int* x, int n, int rounds, int* errors) {
    extern __shared__ __align__(16) int staged[];
    const device::Block block;
    const int right = (team.my_pe + 1) % team.n_pes, left = (team.my_pe + team.n_pes - 1) % team.n_pes;
    int wrong = 0;
    for (int round = 1; round <= rounds; ++round) {
        for (int i = static_cast<int>(block.rank()); i < n; i += static_cast<int>(block.size()))
            staged[i] = 1000 * round + 10 * i + team.my_pe;
        device::async_put(team, x, staged, static_cast<unsigned long long>(n), right, block);
        device::flush(team, block);
        for (int i = static_cast<int>(block.rank()); i < n; i += static_cast<int>(block.size()))
            staged[i] = -1;
        device::barrier(team, block);
        for (int i = static_cast<int>(block.rank()); i < n; i += static_cast<int>(block.size()))
            wrong += x[i] != 1000 * round + 10 * i + left;
        device::sync(team, block);
    }
    if (wrong) atomicAdd(errors, wrong);
}

template <class T> __device__ bool is_whole(T word) {
    const T low = word & 0xff;
    for (unsigned k = 1; k < sizeof(T); ++k)
        if (static_cast<T>(word >> (8 * k) & 0xff) != low) return false;
    return true;
}
template <class T> __global__ void watch_kernel(Team team, T* x, int count, int rounds, int* errors) {
    __shared__ __align__(16) T mine[64];
    const int right = (team.my_pe + 1) % team.n_pes;
    int wrong = 0;
    if (blockIdx.x == 0) {
        for (int round = 0; round < rounds; ++round) {
            const T byte = static_cast<T>(1 + round % 7);
            T word = 0;
            for (unsigned k = 0; k < sizeof(T); ++k) word = static_cast<T>(word | byte << (8 * k));
            if (static_cast<int>(threadIdx.x) < count) mine[threadIdx.x] = word;
            __syncthreads();
            device::put(team, x, mine, static_cast<unsigned long long>(count), right, device::Block{});
        }
    } else {
        for (int round = 0; round < rounds; ++round)
            for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
                wrong += !is_whole(device::load_relaxed(x + i));
    }
    if (wrong) atomicAdd(errors, wrong);
}

__global__ void touch_kernel(Team, int* word) { *word = 1; }

template <class Call> void with_width(Width width, Call call) {
    if (width == Width::byte)
        call(static_cast<unsigned char*>(nullptr));
    else if (width == Width::float32)
        call(static_cast<float*>(nullptr));
    else
        call(static_cast<double*>(nullptr));
}

}  // namespace

void move_elements(const Team& team, const Moving& moving, int pe) {
    with_width(moving.width,
               [&](auto* type) { launch_move<std::remove_pointer_t<decltype(type)>>(team, moving, pe); });
}
void fill_elements(Width width, void* x, std::uint64_t n, int seed) {
    with_width(width, [&](auto* type) { fill_kernel<<<64, 256>>>(static_cast<decltype(type)>(x), n, seed); });
    finish();
}
void check_elements(Width width, const void* x, std::uint64_t n, int seed, int stride, int* errors) {
    with_width(width, [&](auto* type) {
        using T = std::remove_pointer_t<decltype(type)>;
        check_kernel<<<64, 256>>>(static_cast<const T*>(x), n, seed, stride, errors);
    });
    finish();
}
void check_sums(const float* x, std::uint64_t from, std::uint64_t n, int seed, int n_seeds, int* errors) {
    sums_kernel<<<64, 256>>>(x, from, n, seed, n_seeds, errors);
    finish();
}
void async_from_shared(const Team& team, int* x, int n, int rounds, int* errors) {
    async_kernel<<<1, 256, static_cast<std::size_t>(n) * sizeof(int)>>>(team, x, n, rounds, errors);
    finish();
}
void watch_words(const Team& team, void* x, int bytes, int count, int rounds, int* errors) {
    if (bytes == 2)
        watch_kernel<<<2, 64>>>(team, static_cast<unsigned short*>(x), count, rounds, errors);
    else if (bytes == 4)
        watch_kernel<<<2, 64>>>(team, static_cast<unsigned*>(x), count, rounds, errors);
    else
        watch_kernel<<<2, 64>>>(team, static_cast<unsigned long long*>(x), count, rounds, errors);
    finish();
}
bool too_large_is_refused(const Team& team, int* word) {
    const int most = device::most_resident_blocks(touch_kernel, 1024);
    const cudaError_t result = device::cooperative_launch(touch_kernel, dim3(static_cast<unsigned>(most) + 1),
                                                          dim3(1024), 0, nullptr, team, word);
    finish();
    return most > 0 && result == cudaErrorCooperativeLaunchTooLarge;
}

}  // namespace atl::testing
