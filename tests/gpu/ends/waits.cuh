// Every wait of kernels and streams, never satisfied: PE 0 makes one, selected by name, and PE 1 makes no
// wait.
#pragma once

#include "atoll/atoll.hpp"
#include "atoll/device/device.hpp"
#include "atoll/stream.hpp"

#include <cuda_runtime.h>

#include <cstring>
#include <string>

namespace ends {

namespace device = atl::device;
using Word = unsigned long long;

constexpr const char* kernel_waits[] = {
    "signal_wait_until",
    "signal_consume",
    "wait_until",
    "wait_until_all",
    "wait_until_any",
    "wait_until_some",
    "wait_until_all_vector",
    "wait_until_any_vector",
    "wait_until_some_vector",
    "sync",
    "barrier",
    "sync_relaxed",
    "receive",
    "post",
    "grid_sync",
    "broadcast",
    "fcollect",
    "collect",
    "alltoall",
    "reduce",
    "reduce_scatter",
    "large_reduce",
    "tile_reduce",
    "tile_allgather",
    "bounded",
    "bounded_reduce",
    "signed",
    "fraction",
};
constexpr const char* stream_waits[] = {
    "stream_wait_until",
    "stream_signal_wait_until",
    "stream_signal_consume",
    "stream_sync",
    "stream_barrier",
    "stream_reduce",
    "stream_large_reduce",
    "stream_broadcast",
    "stream_large_broadcast",
    "stream_fcollect",
    "stream_alltoall",
    "stream_gather",
    "stream_scatter",
    "stream_reduce_scatter",
    "stream_signed",
    "stream_send",
    "stream_recv",
    "stream_wait_until_all",
    "stream_wait_until_any",
    "stream_wait_until_some_vector",
};

template <class Scope>
__device__ void wait_in_vain(const device::Team& team, int which, Word* x, device::Mailbox box, Scope scope) {
    using device::Compare;
    Word* to = x + 4096;
    constexpr unsigned long long large = 2048;
    const auto tile = device::make_tile(to, 2, 2, 2), tiles = device::make_tile(to, 4, 2, 2);
    const auto source = device::make_tile(x, 2, 2, 2);
    const device::Sum sum;
    switch (which) {
        case 0:
            return device::signal_wait_until(team, x, Compare::ge, 5, scope);
        case 1:
            return device::signal_consume(team, x, 5, scope);
        case 2:
            return device::wait_until(team, x, Compare::ge, Word{5}, scope);
        case 3:
            return device::wait_until_all(team, x, 4, nullptr, Compare::ge, Word{5}, scope);
        case 4:
            static_cast<void>(device::wait_until_any(team, x, 4, nullptr, Compare::ge, Word{5}, scope));
            return;
        case 5:
            static_cast<void>(device::wait_until_some(team, x, 4, to, nullptr, Compare::ge, Word{5}, scope));
            return;
        case 6:
            return device::wait_until_all_vector(team, x, 4, nullptr, Compare::gt, x + 8, scope);
        case 7:
            static_cast<void>(device::wait_until_any_vector(team, x, 4, nullptr, Compare::gt, x + 8, scope));
            return;
        case 8:
            static_cast<void>(
                device::wait_until_some_vector(team, x, 4, to, nullptr, Compare::gt, x + 8, scope));
            return;
        case 9:
            return device::sync(team, scope);
        case 10:
            return device::barrier(team, scope);
        case 11:
            return device::sync(team, scope, device::Order::relaxed);
        case 12:
            return device::receive(team, box, x, 1, 1, scope);
        case 13:
            for (unsigned i = 0; i <= device::Mailbox::depth; ++i) device::post(team, box, x, 1, 1, scope);
            return;
        case 15:
            return device::broadcast(team, to, x, 1, 1, scope);
        case 16:
            return device::fcollect(team, to, x, 1, scope);
        case 17:
            static_cast<void>(device::collect(team, to, x, 1, scope));
            return;
        case 18:
            return device::alltoall(team, to, x, 1, scope);
        case 19:
            return device::reduce(team, to, x, 1, sum, scope);
        case 20:
            return device::reduce_scatter(team, to, x, 1, sum, scope);
        case 21:
            return device::reduce(team, to, x, large, sum, scope);
        case 22:
            return device::tile_reduce(team, tile, source, sum, scope);
        case 23:
            return device::tile_allgather(team, tiles, source, scope);
        case 24:
            return device::signal_wait_until(team, x, Compare::ge, 5, scope, 7, 300000000);
        case 25:
            return device::reduce(team, to, x, 1, sum, scope, 8, 300000000);
        case 26:
            if (scope.rank() == 0) *reinterpret_cast<int*>(x) = -1;
            return device::wait_until(team, reinterpret_cast<int*>(x), Compare::eq, -2, scope);
        case 27:
            if (scope.rank() == 0) *reinterpret_cast<double*>(x) = -1.5;
            return device::wait_until(team, reinterpret_cast<double*>(x), Compare::gt, 0.25, scope);
        default:
            return;
    }
}

__global__ void wait_kernel(device::Team team, int which, Word* x, device::Mailbox box) {
    if (which == 14) {  // one block of two meets
        if (blockIdx.x == 0) device::Grid(team).sync();
    } else if (which % 2 == 0) {
        wait_in_vain(team, which, x, box, device::Block{});
    } else {
        wait_in_vain(team, which, x, box, device::Warp{});
    }
}

inline void wait_on_stream(atl::Job& job, int which, std::uint64_t* x, cudaStream_t handle) {
    const atl::StreamContext stream(job.context(), {handle});
    const atl::StreamTeam team(job.world(), {handle});
    constexpr std::size_t large = 200000;
    using In = std::span<const std::uint64_t>;
    const auto to = [&](std::size_t count) { return std::span(x + large, count); };
    auto* negative = reinterpret_cast<int*>(x);
    auto* out = reinterpret_cast<std::int64_t*>(x + 2 * large);
    switch (which) {
        case 0:
            return stream.wait_until(x, atl::Compare::ge, std::uint64_t{5});
        case 1:
            return stream.signal_wait_until(x, atl::Compare::ge, 5);
        case 2:
            return stream.signal_consume(x, 5);
        case 3:
            return team.sync();
        case 4:
            return team.barrier();
        case 5:
            return team.sum_reduce(to(1), In(x, 1));
        case 6:
            return team.sum_reduce(to(large), In(x, large));
        case 7:
            return team.broadcast(to(1), In(), 1);
        case 8:
            return team.broadcast(to(large), In(), 1);
        case 9:
            return team.fcollect(to(2), In(x, 1));
        case 10:
            return team.alltoall(to(2), In(x, 2));
        case 11:
            return team.gather(to(2), In(x, 1), 0);
        case 12:
            return team.scatter(to(1), In(), 1);
        case 13:
            return team.reduce_scatter(to(1), In(x, 2), atl::ReduceOp::sum);
        case 14:
            cudaMemsetAsync(x, 0xff, sizeof *negative, handle);  // -1
            return stream.wait_until(negative, atl::Compare::eq, -2);
        case 15:
            return team.send_bytes(x, 8, 1);
        case 16:
            return team.recv_bytes(x, 8, 1);
        case 17:
            return stream.wait_until_all(x, 40, nullptr, atl::Compare::ge, std::uint64_t{5});
        case 18:
            return stream.wait_until_any(x, 40, out, nullptr, atl::Compare::ge, std::uint64_t{5});
        default:
            return stream.wait_until_some_vector(x, 40, out, nullptr, atl::Compare::gt, x + large);
    }
}

template <std::size_t N> int index_of(const char* name, const char* const (&names)[N]) {
    for (std::size_t i = 0; i < N; ++i)
        if (std::strcmp(name, names[i]) == 0) return static_cast<int>(i);
    return -1;
}

/// False for an unknown name. Collective.
inline bool wait_in_vain(atl::Job& job, const char* name) {
    const int kernel = index_of(name, kernel_waits), stream = index_of(name, stream_waits);
    if (kernel < 0 && stream < 0) return false;
    auto* x = static_cast<std::uint64_t*>(job.calloc(500000, sizeof(Word), atl::Memory::device));
    auto* block =
        static_cast<char*>(job.calloc(1, device::mailbox_bytes(job.n_pes(), 8), atl::Memory::device));
    const device::Team team = job.world().device(atl::Memory::device);
    job.world().barrier();
    if (job.my_pe() != 0) return true;
    if (kernel >= 0)
        wait_kernel<<<kernel == 14 ? 2 : 1, 32>>>(team, kernel, reinterpret_cast<Word*>(x), {block, 8});
    else
        wait_on_stream(job, stream, x, cudaStreamPerThread);
    return true;
}

inline void print_names() {
    for (const char* name : kernel_waits) std::printf("%s\n", name);
    for (const char* name : stream_waits) std::printf("%s\n", name);
}

}  // namespace ends
