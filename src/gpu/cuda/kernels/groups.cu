// Stream-ordered collectives. Small ones are one kernel that pushes words with flags and folds the received
// words. In large ones, each block synchronizes with the blocks of the same number, pulls (and folds, and
// pushes), and synchronizes again. In the largest reductions, copy engines push, and a second kernel does the
// second synchronization.
#include "gpu/cuda/kernels/groups.cuh"
#include "gpu/cuda/kernels/whole_grid.cuh"

namespace atl::kernels {

namespace {

/// 16 bytes each of all PEs' sources. With a constant number of PEs they are in registers, with all loads in
/// flight at once.
template <int N> struct Gathered { Unit units[N]; };

__device__ bool is_aligned(const GroupCall& call, const Part& part) {
    return (reinterpret_cast<unsigned long long>(call.src) | reinterpret_cast<unsigned long long>(call.dst) |
            part.from) %
               sizeof(Unit) ==
           0;
}

__device__ void push(const GroupCall& call, unsigned long long at, unsigned long long bytes,
                     const Unit& unit) {
    char* dst = static_cast<char*>(call.dst) + at;
    if (keeps(call.kind)) return store_part(dst, bytes, unit);
    for (int k = 0; k < call.team.n_pes; ++k) {
        const int pe = call.team.my_pe + k < call.team.n_pes ? call.team.my_pe + k
                                                             : call.team.my_pe + k - call.team.n_pes;
        store_part(device::detail::at(call.team, dst, pe), bytes, unit);
    }
}

/// For any number of PEs and any alignment.
template <class F>
__device__ void fold_slowly(const GroupCall& call, const Part& part, unsigned long long from, F fold) {
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x * sizeof(Unit);
    const unsigned long long mine =
        (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * sizeof(Unit);
    const char* src = static_cast<const char*>(call.src) + part.from;
    fold.scale(scaling_of(call));
    for (unsigned long long at = from + mine; at < part.last; at += step) {
        const unsigned long long bytes = part.last - at;
        fold.first(load_part(device::detail::at(call.team, src + at, 0), bytes));
        for (int pe = 1; pe < call.team.n_pes; ++pe)
            fold.next(call.op, load_part(device::detail::at(call.team, src + at, pe), bytes));
        push(call, at, bytes, fold.result());
    }
}

/// For N PEs, with U units of each in flight. Handles complete rounds and returns the position after them;
/// fold_slowly does the rest.
template <int N, int U, class F>
__device__ unsigned long long sum_rounds(const GroupCall& call, const Part& part, unsigned long long start) {
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x * sizeof(Unit);
    const unsigned long long mine =
        (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * sizeof(Unit);
    const int me = call.team.my_pe;
    const char* src = static_cast<const char*>(call.src) + part.from;
    for (; start + U * step <= part.last; start += U * step) {
        Gathered<N> got[U];
#pragma unroll
        for (int u = 0; u < U; ++u)
#pragma unroll
            for (int pe = 0; pe < N; ++pe)
                got[u].units[pe] =
                    load_unit(device::detail::at(call.team, src + start + u * step + mine, pe));
#pragma unroll
        for (int u = 0; u < U; ++u) {
            F fold;
            fold.scale(scaling_of(call));
            fold.first(got[u].units[0]);
#pragma unroll
            for (int pe = 1; pe < N; ++pe) fold.next(ReduceOp::sum, got[u].units[pe]);
            const Unit result = fold.result();
            char* dst = static_cast<char*>(call.dst) + start + u * step + mine;
            if (keeps(call.kind)) {
                store_unit(dst, result);
            } else {
#pragma unroll
                for (int k = 0; k < N; ++k)
                    store_unit(device::detail::at(call.team, dst, (me + k) % N), result);
            }
        }
    }
    return start;
}

/// Sums of the types that GPU programs add most: in registers, with many loads in flight. Returns the
/// position reached.
template <class F> __device__ unsigned long long sum_quickly(const GroupCall& call, const Part& part) {
    unsigned long long done = part.first;
    if (call.team.n_pes == 2) {
        done = sum_rounds<2, 4, F>(call, part, done);
        done = sum_rounds<2, 1, F>(call, part, done);
    } else if (call.team.n_pes == 4) {
        done = sum_rounds<4, 2, F>(call, part, done);
        done = sum_rounds<4, 1, F>(call, part, done);
    } else if (call.team.n_pes == 8) {
        done = sum_rounds<8, 1, F>(call, part, done);
    }
    return done;
}

template <bool Scaled> __device__ void fold_part(const GroupCall& call) {
    const Part part = own_part(call);
    unsigned long long done = part.first;
    // Only the most common types; the others would cost compile time.
    if (is_aligned(call, part) && (Scaled || call.op == ReduceOp::sum)) {
        if (call.type == DType::float32) done = sum_quickly<Fold<float, Scaled>>(call, part);
        if (call.type == DType::float64) done = sum_quickly<Fold<double, Scaled>>(call, part);
        if (call.type == DType::float16) done = sum_quickly<Fold<__half, Scaled>>(call, part);
        if (call.type == DType::bfloat16) done = sum_quickly<Fold<__nv_bfloat16, Scaled>>(call, part);
    }
    with_fold<Scaled>(call, [&](auto fold) { fold_slowly(call, part, done, fold); });
}

template <bool Scaled> __device__ void fold_large(const GroupCall& call) {
    between_meetings(call, [&] { fold_part<Scaled>(call); });
}

template <bool Scaled> __device__ void exchange_small(const GroupCall& call) {
    const Exchange<ByKind> exchange(call);
    exchange.send();
    if (exchange.has_part()) {
        const int n = call.team.n_pes;
        if (Scaled || folds(call.kind))
            with_fold<Scaled>(call, [&](auto fold) {
                fold.scale(scaling_of(call));
                fold.first(exchange.receive(0));
                for (int pe = 1; pe < n; ++pe) fold.next(call.op, exchange.receive(pe));
                exchange.store(0, fold.result());
            });
        else
            for (int pe = 0; pe < n; ++pe)
                if (sends(call, pe, call.team.my_pe)) exchange.store(pe, exchange.receive(pe));
    }
    if (renews(exchange.epoch())) [[unlikely]]
        renew(call, exchange.epoch() & 1, exchange.epoch());
    finish(call, exchange.epoch());
}

/// Every PE relays its part of the root's block to all, so the root sends each byte once.
__device__ void relay(const GroupCall& call) {
    const Part part = own_part(call);
    const char* src = root_array(call) + part.first;
    for (int k = 0; k < call.team.n_pes; ++k) {
        const int pe = (call.team.my_pe + k) % call.team.n_pes;
        device::detail::copy(device::detail::at(call.team, static_cast<char*>(call.dst), pe) + part.first,
                             src, part.last - part.first, WholeGrid{});
    }
}

__device__ void pull(const GroupCall& call) {
    const int n = call.team.n_pes, me = call.team.my_pe;
    for (int k = 0; k < n; ++k) {
        const int pe = (me + k) % n;
        if (!sends(call, pe, me)) continue;
        const auto from = is_by_target(call.kind) ? static_cast<unsigned long long>(me) : 0;
        const auto to = is_by_source(call.kind) ? static_cast<unsigned long long>(pe) : 0;
        const char* theirs = is_from_root(call.kind)
                                 ? root_array(call)
                                 : device::detail::at(call.team, static_cast<const char*>(call.src), pe);
        device::detail::copy(static_cast<char*>(call.dst) + to * call.bytes, theirs + from * call.bytes,
                             call.bytes, WholeGrid{});
    }
}

}  // namespace

extern "C" __global__ void atoll_sync(const GroupCall call) {
    const unsigned epoch = *own_count(call) + 1;
    meet(call, epoch);
    if (renews(epoch)) [[unlikely]]
        renew(call, epoch & 1, epoch);
    finish(call, epoch);
}

extern "C" __global__ void __launch_bounds__(GroupMemory::exchange_threads)
    atoll_exchange(const GroupCall call) {
    exchange_small<false>(call);
}

/// Averages and scaled sums. A separate kernel, so that the others are not slower for them.
extern "C" __global__ void __launch_bounds__(GroupMemory::exchange_threads)
    atoll_exchange_scaled(const GroupCall call) {
    exchange_small<true>(call);
}

/// Large collectives: sources and targets are symmetric.
extern "C" __global__ void __launch_bounds__(512, 1) atoll_pull(const GroupCall call) {
    if (is_from_root(call.kind) && call.team.my_pe == call.root) publish_root_array(call, call.src);
    between_meetings(call, [&] {
        if (call.kind == Group::broadcast)
            relay(call);
        else
            pull(call);
    });
}

extern "C" __global__ void __launch_bounds__(512, 1) atoll_fold(const GroupCall call) {
    fold_large<false>(call);
}

extern "C" __global__ void __launch_bounds__(512, 1) atoll_fold_scaled(const GroupCall call) {
    fold_large<true>(call);
}

}  // namespace atl::kernels
