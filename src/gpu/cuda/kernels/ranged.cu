// Reductions to one root, and scans, in stream order: each PE receives the fold of a different range of
// members. Small ones send words with flags to the PEs that need them. In large ones, every PE folds its part
// of all sources and pushes to each member its result.
#include "gpu/cuda/kernels/groups.cuh"

namespace atl::kernels {

namespace {

/// Sends to the root; for scans, to the members of higher number.
struct ToReducers {
    static __device__ bool sends(const GroupCall& call, int from, int to) {
        return call.kind == Group::reduce_to ? to == call.root : from < to;
    }
};

template <bool Scaled> __device__ void exchange_ranged(const GroupCall& call) {
    const Exchange<ToReducers> exchange(call);
    exchange.send();
    const int count = gpu::folded_for(call.kind, call.team.my_pe, call.team.n_pes, call.root);
    if (exchange.has_part()) {
        if (count > 0)
            with_fold<Scaled>(call, [&](auto fold) {
                fold.scale(scaling_of(call));
                fold.first(exchange.receive(0));
                for (int pe = 1; pe < count; ++pe) fold.next(call.op, exchange.receive(pe));
                exchange.store(0, fold.result());
            });
        else if (call.kind == Group::exscan)
            exchange.store(0, Unit{});
    }
    if (renews(exchange.epoch())) [[unlikely]]
        renew(call, exchange.epoch() & 1, exchange.epoch());
    finish(call, exchange.epoch());
}

/// Only this PE accesses its part of any array, and it reads each source before it writes there. dst may
/// therefore be src.
template <class F> __device__ void fold_to_members(const GroupCall& call, F fold) {
    const Part part = own_part(call);
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x * sizeof(Unit);
    const unsigned long long mine =
        (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * sizeof(Unit);
    const char* src = static_cast<const char*>(call.src);
    char* dst = call.kind == Group::reduce_to ? root_array(call) : static_cast<char*>(call.dst);
    fold.scale(scaling_of(call));
    for (unsigned long long at = part.first + mine; at < part.last; at += step) {
        const unsigned long long bytes = part.last - at;
        for (int pe = 0; pe < call.team.n_pes; ++pe) {
            const Unit next = load_part(device::detail::at(call.team, src + at, pe), bytes);
            if (call.kind == Group::exscan)
                store_part(device::detail::at(call.team, dst + at, pe), bytes,
                           pe == 0 ? Unit{} : fold.result());
            if (pe == 0)
                fold.first(next);
            else
                fold.next(call.op, next);
            if (call.kind == Group::inscan)
                store_part(device::detail::at(call.team, dst + at, pe), bytes, fold.result());
        }
        if (call.kind == Group::reduce_to) store_part(dst + at, bytes, fold.result());
    }
}

template <bool Scaled> __device__ void fold_ranged(const GroupCall& call) {
    if (call.kind == Group::reduce_to && call.team.my_pe == call.root) publish_root_array(call, call.dst);
    between_meetings(call, [&] { with_fold<Scaled>(call, [&](auto fold) { fold_to_members(call, fold); }); });
}

/// Divided sums are rare, so one kernel serves both cases and branches at run time.
__device__ bool scales(const GroupCall& call) { return call.scale != 1 || call.op == ReduceOp::avg; }

}  // namespace

extern "C" __global__ void __launch_bounds__(GroupMemory::exchange_threads)
    atoll_exchange_ranged(const GroupCall call) {
    if (scales(call))
        exchange_ranged<true>(call);
    else
        exchange_ranged<false>(call);
}

/// Sources are symmetric. The root's dst of reduce_to may be anywhere in its device heap.
extern "C" __global__ void __launch_bounds__(512, 1) atoll_fold_ranged(const GroupCall call) {
    if (scales(call))
        fold_ranged<true>(call);
    else
        fold_ranged<false>(call);
}

}  // namespace atl::kernels
