// Reductions to one root, and scans, in the order of a stream: who gets the fold of which members' sources
// differs from PE to PE. Small ones: words with their own flags to those who need them. Large ones: every PE
// folds its part of all sources, and pushes what each member gets of it.
#include "cuda/kernels/groups.cuh"

namespace atl::kernels {

namespace {

/// To the root; or, of scans, to the members behind.
struct ToWhoFolds {
    static __device__ bool sends(const GroupCall& call, int from, int to) {
        return call.kind == Group::reduce_to ? to == call.root : from < to;
    }
};

template <bool Scaled> __device__ void exchange_ranged(const GroupCall& call) {
    const Exchange<ToWhoFolds> exchange(call);
    exchange.send();
    const int count = heap::folded_for(call.kind, call.team.my_pe, call.team.n_pes, call.root);
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

/// Only this PE reads and writes its part of anybody's arrays, and reads of each source before it writes
/// there: dst may be src.
template <class F> __device__ void fold_to_members(const GroupCall& call, F fold) {
    const Part part = own_part(call);
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x * sizeof(Unit);
    const unsigned long long mine =
        (static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * sizeof(Unit);
    const char* src = static_cast<const char*>(call.src);
    char* dst = call.kind == Group::reduce_to ? told(call) : static_cast<char*>(call.dst);
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
    if (call.kind == Group::reduce_to && call.team.my_pe == call.root) tell(call, call.dst);
    between_meetings(call, [&] { with_fold<Scaled>(call, [&](auto fold) { fold_to_members(call, fold); }); });
}

/// Sums that are divided are few: one kernel has both, chosen as it runs.
__device__ bool scales(const GroupCall& call) { return call.scale != 1 || call.op == ReduceOp::avg; }

}  // namespace

extern "C" __global__ void __launch_bounds__(GroupMemory::exchange_threads)
    atoll_exchange_ranged(const GroupCall call) {
    if (scales(call))
        exchange_ranged<true>(call);
    else
        exchange_ranged<false>(call);
}

/// Sources are symmetric; of reduce_to the root's dst stands anywhere in its device heap.
extern "C" __global__ void __launch_bounds__(512, 1) atoll_fold_ranged(const GroupCall call) {
    if (scales(call))
        fold_ranged<true>(call);
    else
        fold_ranged<false>(call);
}

}  // namespace atl::kernels
