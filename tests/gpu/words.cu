#include "gpu/words.hpp"

#include "atoll/device/device.hpp"
#include "atoll/device/half.hpp"

#include <stdexcept>

namespace atl::testing {

namespace {

using device::Compare;
using device::Team;

__global__ void add_kernel(Team team, std::uint64_t* words) {
    device::atomic_add(team, reinterpret_cast<int*>(words), 1, 0);
    device::atomic_add(team, reinterpret_cast<unsigned*>(words + 1), 1, 0);
    device::atomic_fetch_add(team, reinterpret_cast<long long*>(words + 2), 1, 0);
    device::atomic_inc(team, words + 3, 0);
    device::atomic_add(team, reinterpret_cast<float*>(words + 4), 1, 0);
    device::atomic_fetch_add(team, reinterpret_cast<double*>(words + 5), 1, 0);
    device::atomic_add(team, reinterpret_cast<__half*>(words + 6), __float2half(1), 0);
    device::atomic_add(team, reinterpret_cast<__nv_bfloat16*>(words + 7), __float2bfloat16(1), 0);
}

template <class T> __device__ int wrong_atomics(const Team& team, T* x, int pe) {
    int wrong = 0;
    device::atomic_set(team, x, 12, pe);
    wrong += device::atomic_swap(team, x, 10, pe) != T{12};
    wrong += device::atomic_compare_swap(team, x, 11, 99, pe) != T{10};
    wrong += device::atomic_compare_swap(team, x, 10, 7, pe) != T{10};
    if constexpr (!device::detail::IsFloating<T>::value) {
        wrong += device::atomic_fetch_and(team, x, 5, pe) != T{7};
        wrong += device::atomic_fetch_or(team, x, 8, pe) != T{5};
        wrong += device::atomic_fetch_xor(team, x, 1, pe) != T{13};
        device::atomic_and(team, x, 4, pe);
        device::atomic_or(team, x, 2, pe);
        device::atomic_xor(team, x, 1, pe);
    }
    wrong += device::atomic_fetch_inc(team, x, pe) != T{7};
    wrong += device::atomic_fetch(team, x, pe) != T{8};
    return wrong;
}

__global__ void each_atomic_kernel(Team team, std::uint64_t* word, int* errors) {
    const int pe = (team.my_pe + 1) % team.n_pes;
    *errors += wrong_atomics(team, reinterpret_cast<int*>(word), pe);
    *errors += wrong_atomics(team, reinterpret_cast<unsigned*>(word), pe);
    *errors += wrong_atomics(team, reinterpret_cast<long long*>(word), pe);
    *errors += wrong_atomics(team, reinterpret_cast<unsigned long long*>(word), pe);
    *errors += wrong_atomics(team, reinterpret_cast<float*>(word), pe);
    *errors += wrong_atomics(team, reinterpret_cast<double*>(word), pe);
}

__global__ void strided_kernel(Team team, int* x, int* local, int* errors) {
    const device::Warp warp;
    const int right = (team.my_pe + 1) % team.n_pes, left = (team.my_pe + team.n_pes - 1) % team.n_pes;
    for (int i = static_cast<int>(warp.rank()); i < 20; i += 32) local[i] = 100 * team.my_pe + i;
    warp.sync();
    device::iput(team, x, local, 3, 2, 10, right, warp);
    device::barrier(team, warp);
    if (warp.rank() == 0)
        for (int i = 0; i < 40; ++i) *errors += x[i] != (i % 3 == 0 && i < 30 ? 100 * left + i / 3 * 2 : 0);
    device::iget(team, local, x, 1, 3, 10, right, warp);
    if (warp.rank() == 0)
        for (int i = 0; i < 10; ++i) *errors += local[i] != 100 * team.my_pe + 2 * i;
}

__global__ void waits_kernel(Team team, int* x, int* errors) {
    using Word = unsigned long long;
    __shared__ Word found[6];
    const device::Block block;
    const int right = (team.my_pe + 1) % team.n_pes;
    const int status[6] = {0, 1, 0, 0, 0, 0}, wanted[6] = {7, 0, 8, 9, 0, 0};
    int wrong = device::test_any(team, x, 6, status, Compare::ne, 0, block) != device::no_index;
    wrong += device::test(team, x, Compare::ne, 0, block);
    device::sync(team, block);
    if (block.rank() == 0) {
        device::p(team, x + 1, 5, right);
        device::p(team, x + 3, 9, right);
    }
    wrong += device::wait_until_any(team, x, 6, status, Compare::gt, 0, block) != 3;
    wrong += device::wait_until_some(team, x, 6, found, status, Compare::gt, 0, block) != 1;
    wrong += found[0] != 3;
    device::sync(team, block);
    if (block.rank() == 0) {
        device::p(team, x, 7, right);
        device::p(team, x + 2, 8, right);
    }
    device::wait_until_all(team, x, 4, status, Compare::ge, 7, block);
    device::wait_until_all_vector(team, x, 6, status, Compare::eq, wanted, block);
    wrong += !device::test_all_vector(team, x, 6, status, Compare::eq, wanted, block);
    wrong += device::test_some_vector(team, x, 6, found, status, Compare::eq, wanted, block) != 5;
    if (wrong) atomicAdd(errors, wrong);
}

template <class Scope>
__device__ int check_words(const std::uint64_t* data, int n, std::uint64_t round, Scope scope) {
    int wrong = 0;
    for (int i = static_cast<int>(scope.rank()); i < n; i += static_cast<int>(scope.size()))
        wrong += data[i] != round * 64 + static_cast<std::uint64_t>(i);
    return wrong;
}
template <class Scope>
__device__ void fill_words(std::uint64_t* data, int n, std::uint64_t round, Scope scope) {
    for (int i = static_cast<int>(scope.rank()); i < n; i += static_cast<int>(scope.size()))
        data[i] = round * 64 + static_cast<std::uint64_t>(i);
    scope.sync();
}

template <class Scope> __global__ void litmus_kernel(Team team, Passing how, Litmus l, int* errors) {
    __shared__ std::uint64_t mine[512];
    const Scope scope{};
    const int right = (team.my_pe + 1) % team.n_pes, left = (team.my_pe + team.n_pes - 1) % team.n_pes;
    const device::Mailbox box{l.box, 8ull * static_cast<unsigned>(l.n)};
    const auto n = static_cast<unsigned long long>(l.n);
    int wrong = 0;
    for (std::uint64_t round = 1; round <= l.rounds; ++round) {
        fill_words(mine, l.n, round, scope);
        if (how == Passing::put_signal) {
            device::signal_wait_until(team, l.signal + 1, Compare::ge, round - 1, scope);
            device::put_signal(team, l.data, mine, n, l.signal, round, right, scope);
            device::signal_wait_until(team, l.signal, Compare::ge, round, scope);
            wrong += check_words(l.data, l.n, round, scope);
            scope.sync();
            if (scope.rank() == 0) device::signal_set(team, l.signal + 1, round, left);
        } else if (how == Passing::mailbox) {
            device::post(team, box, mine, n, right, scope);
            device::receive(team, box, mine, n, left, scope);
            wrong += check_words(mine, l.n, round, scope);
            scope.sync();
        } else {
            device::put(team, l.data, mine, n, right, scope);
            device::barrier(team, scope);
            wrong += check_words(l.data, l.n, round, scope);
            device::sync(team, scope);
        }
    }
    if (wrong) atomicAdd(errors, wrong);
}

template <class Scope> __global__ void news_kernel(Team team, News how, ThirdParty parts, int* errors) {
    __shared__ ThirdParty::Word mine[512];
    const int wrong = play(team, how, static_cast<Role>(blockIdx.x), parts, mine, Scope{});
    if (wrong) atomicAdd(errors, wrong);
}

void finish() {
    cudaError_t result = cudaGetLastError();
    if (result == cudaSuccess) result = cudaDeviceSynchronize();
    if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
}

}  // namespace

void add_to_all_types(const Team& team, std::uint64_t* words, int threads) {
    add_kernel<<<1, static_cast<unsigned>(threads)>>>(team, words);
    finish();
}
void each_atomic(const Team& team, std::uint64_t* word, int* errors) {
    each_atomic_kernel<<<1, 1>>>(team, word, errors);
    finish();
}
void strided(const Team& team, int* x, int* local, int* errors) {
    strided_kernel<<<1, 32>>>(team, x, local, errors);
    finish();
}
void waits(const Team& team, int* x, int* errors) {
    waits_kernel<<<1, 96>>>(team, x, errors);
    finish();
}
void pass_news(const Team& team, News how, Together scope, const ThirdParty& parts, int* errors) {
    if (scope == Together::warp)
        news_kernel<device::Warp><<<3, 32>>>(team, how, parts, errors);
    else
        news_kernel<device::Block><<<3, 128>>>(team, how, parts, errors);
    finish();
}
void pass_messages(const Team& team, Passing how, Together scope, const Litmus& litmus, int* errors) {
    if (scope == Together::warp)
        litmus_kernel<device::Warp><<<1, 32>>>(team, how, litmus, errors);
    else
        litmus_kernel<device::Block><<<1, 128>>>(team, how, litmus, errors);
    finish();
}

}  // namespace atl::testing
