// Large collectives of arrays that other PEs cannot address, as one kernel. Blocks push their parts of the
// arrays into the stages of the others, and fold or unpack there what they received.
//
// A block has three crews of threads, which progress by themselves. So copies within a GPU overlap with
// transfers, and with waits until transfers are visible. In each round, one crew pushes to slots of the
// others. The second merges what was pushed to this PE: it folds it, or copies it to dst. Results that others
// need go to their second slots. The third collects those. A slot is used again some rounds later, after its
// reader has notified all others. Two more warps notify the others of what the first two crews have stored.
#include "gpu/cuda/kernels/groups.cuh"
#include "gpu/staged_rounds.hpp"

namespace atl::kernels {

namespace {

using gpu::Span;
using gpu::StagedCall;
using gpu::StagedRounds;

/// The crews, in the order of their threads. A crew that pushes to others does not wait until its stores are
/// visible. Another warp waits for that, and then tells the others.
enum Crew : unsigned { pushes, merges, collects, crews };
static_assert(crews == StagedRounds::kinds_of_flags);
constexpr unsigned mover_threads = 256, collector_threads = 192, notifier_threads = 32;
constexpr unsigned collectors_from = 2 * mover_threads;
constexpr unsigned notifiers_from = collectors_from + collector_threads;
constexpr unsigned block_threads = notifiers_from + 2 * notifier_threads;
static_assert(block_threads == StagedRounds::threads);

/// Named barriers of a block: one for each crew, and for each notifier one more than rounds are in flight. A
/// crew is never further ahead of its notifier. It waits until the others have used an earlier round, of
/// which the notifier has notified them.
constexpr unsigned notify_barriers = StagedRounds::in_flight + 1;
__device__ unsigned notify_barrier(Crew crew, unsigned round) {
    return 1 + crews + crew * notify_barriers + round % notify_barriers;
}
static_assert(1 + crews + 2 * notify_barriers <= 16);

/// The threads of one crew.
class InCrew {
  public:
    __device__ explicit InCrew(Crew crew) : crew_(crew) {}
    __device__ unsigned rank() const { return threadIdx.x - crew_ * mover_threads; }
    __device__ unsigned size() const { return crew_ == collects ? collector_threads : mover_threads; }
    __device__ void sync() const {
        asm volatile("bar.sync %0, %1;" ::"r"(1 + crew_), "r"(size()) : "memory");
    }
    /// Lets the notifier wait for what this crew has stored.
    __device__ void pass_on(unsigned round) const {
        asm volatile("bar.arrive %0, %1;" ::"r"(notify_barrier(crew_, round)),
                     "n"(mover_threads + notifier_threads)
                     : "memory");
    }

  private:
    Crew crew_;
};

__device__ bool is_aligned(const void* a) {
    return reinterpret_cast<unsigned long long>(a) % sizeof(Unit) == 0;
}

/// The addresses of one round of this block.
class Steps {
  public:
    __device__ explicit Steps(const StagedCall& call)
        : call_(call.group), rounds_(call, blockIdx.x, gridDim.x), stage_(call.stage) {}

    __device__ unsigned rounds() const { return rounds_.count(); }
    /// Clears the flags of this block; its threads synchronize afterwards.
    __device__ void clear_flags() const {
        for (unsigned i = threadIdx.x; i < crews * n(); i += blockDim.x)
            *flag(pushes, static_cast<int>(i), me()) = 0;
    }
    /// Notifies all others that a crew has done so many rounds. `rank` and `size` are of the threads that do
    /// it.
    __device__ void notify(Crew crew, unsigned rounds, unsigned rank, unsigned size) const {
        for (int pe = static_cast<int>(rank); pe < n(); pe += static_cast<int>(size))
            if (pe != me()) device::store_release(flag(crew, me(), pe), rounds);
    }
    /// Notifies of the rounds of a crew as a warp of its own.
    __device__ void notify_round(Crew crew, unsigned round) const {
        asm volatile("bar.sync %0, %1;" ::"r"(notify_barrier(crew, round)),
                     "n"(mover_threads + notifier_threads)
                     : "memory");
        notify(crew, round + 1, threadIdx.x % notifier_threads, notifier_threads);
    }
    /// Lets a crew wait until another crew of all others has done so many rounds.
    __device__ void await(const InCrew& in, Crew other, unsigned rounds) const {
        for (int pe = static_cast<int>(in.rank()); pe < n(); pe += static_cast<int>(in.size())) {
            if (pe == me()) continue;
            const unsigned* word = flag(other, pe, me());
            device::detail::spin(
                call_.team, [&] { return reached(device::load_acquire(word), rounds); },
                [&] { return awaited(call_, pe, word, rounds); });
        }
        in.sync();
    }

    __device__ void push(unsigned round) const {
        for (int k = 1; k < n(); ++k) {
            const int pe = (me() + k) % n();
            if (!sends(call_, me(), pe)) continue;
            const Span part = rounds_.pushed(round, pe);
            push_part(there(rounds_.slot(round, 0, me()), pe), src() + part.at, part.bytes);
        }
    }

    /// Folds this PE's part in the order of the members, so that every result has the same bits. `Quick`:
    /// sums, of types that GPU programs add most.
    template <bool Quick, class F> __device__ void fold(unsigned round, F fold) const {
        const Span from = rounds_.pushed(round, me());
        const bool keeps = call_.kind != Group::reduce_to || me() == call_.root;
        const Folded where{src() + from.at, keeps ? dst() + rounds_.merged(round, me()).at : nullptr,
                           stage_ + rounds_.slot(round, 0, 0), stage_ + rounds_.slot(round, 1, me())};
        fold.scale(scaling_of(call_));
        unsigned long long at = InCrew(merges).rank() * sizeof(Unit);
        if constexpr (Quick) {
            if (is_aligned(where.own) && is_aligned(where.dst)) {
                if (n() == 2) at = sum_units<2, 4>(where, at, from.bytes, fold);
                if (n() == 4) at = sum_units<4, 2>(where, at, from.bytes, fold);
                if (n() == 8) at = sum_units<8, 1>(where, at, from.bytes, fold);
            }
        }
#pragma unroll 1
        for (; at < from.bytes; at += mover_threads * sizeof(Unit)) {
            const unsigned long long bytes = from.bytes - at;
            fold.first(load_part(source(where, 0) + at, bytes));
#pragma unroll 1
            for (int pe = 1; pe < n(); ++pe) fold.next(call_.op, load_part(source(where, pe) + at, bytes));
            const Unit result = fold.result();
            if (where.dst) store_part(where.dst + at, bytes, result);
            spread(where, at, result);
        }
    }

    /// Copies what was pushed to where it belongs. In a broadcast, each PE relays the part that the root
    /// pushed to it.
    __device__ void unpack(unsigned round) const {
        if (call_.kind == Group::broadcast) return relay(round);
        for (int k = 0; k < n(); ++k) {
            const int pe = (me() + k) % n();
            if (!sends(call_, pe, me())) continue;
            const Span to = rounds_.merged(round, pe);
            const char* from =
                pe == me() ? src() + rounds_.pushed(round, me()).at : stage_ + rounds_.slot(round, 0, pe);
            if (from != dst() + to.at) copy(merges, dst() + to.at, from, to.bytes);
        }
    }

    /// Copies the results that the others pushed.
    __device__ void collect(unsigned round) const {
        for (int k = 1; k < n(); ++k) {
            const int pe = (me() + k) % n();
            if (!returns(pe, me())) continue;
            const Span to = rounds_.merged(round, pe);
            copy(collects, dst() + to.at, stage_ + rounds_.slot(round, 1, pe), to.bytes);
        }
    }

  private:
    /// The addresses of a fold.
    struct Folded {
        const char* own;
        char* dst;          ///< null: this PE gets no result
        const char* slots;  ///< the data that PE 0 pushed; those of the next are a chunk further
        char* results;      ///< this PE's second slot, at the others
    };

    __device__ int n() const { return call_.team.n_pes; }
    __device__ int me() const { return call_.team.my_pe; }
    __device__ const char* src() const { return static_cast<const char*>(call_.src); }
    __device__ char* dst() const { return static_cast<char*>(call_.dst); }
    __device__ char* there(unsigned long long offset, int pe) const {
        return device::detail::at(call_.team, stage_ + offset, pe);
    }
    /// The flag on PE `at` with which `from` reports its rounds.
    __device__ unsigned* flag(Crew crew, int from, int at) const {
        return reinterpret_cast<unsigned*>(there(rounds_.flag(crew, from), at));
    }
    __device__ static void copy(Crew crew, char* to, const char* from, unsigned long long bytes) {
        device::detail::copy(to, from, bytes, InCrew(crew));
    }
    /// Stores complete units to a slot, also from a source at any address.
    __device__ static void push_part(char* slot, const char* from, unsigned long long bytes) {
        if (is_aligned(from)) return copy(pushes, slot, from, bytes);
        for (unsigned long long at = InCrew(pushes).rank() * sizeof(Unit); at < bytes;
             at += mover_threads * sizeof(Unit))
            store_unit(slot + at, load_part(from + at, bytes - at));
    }
    /// True if the results of `from` are also pushed to `to`.
    __device__ bool returns(int from, int to) const {
        if (from == to) return false;
        if (call_.kind == Group::broadcast) return to != call_.root;
        return call_.kind == Group::reduce || (call_.kind == Group::reduce_to && to == call_.root);
    }
    __device__ const char* source(const Folded& where, int pe) const {
        return pe == me() ? where.own : where.slots + pe * rounds_.chunk();
    }
    /// Stores a result to the slots of the others. The last may be incomplete; a slot has complete units.
    __device__ void spread(const Folded& where, unsigned long long at, const Unit& unit) const {
        if (call_.kind == Group::reduce_scatter) return;
#pragma unroll 1
        for (int k = 1; k < n(); ++k) {
            const int pe = (me() + k) % n();
            if (returns(me(), pe)) store_unit(device::detail::at(call_.team, where.results + at, pe), unit);
        }
    }

    /// For N PEs, with U units of each in flight. Handles what is complete and returns the position after it.
    template <int N, int U, class F>
    __device__ unsigned long long sum_units(const Folded& where, unsigned long long at,
                                            unsigned long long bytes, F& fold) const {
        const unsigned long long step = mover_threads * sizeof(Unit);
#pragma unroll 1
        for (; at + (U - 1) * step + sizeof(Unit) <= bytes; at += U * step) {
            Unit got[U][N];
#pragma unroll
            for (int u = 0; u < U; ++u)
#pragma unroll
                for (int pe = 0; pe < N; ++pe) got[u][pe] = load_unit(source(where, pe) + at + u * step);
#pragma unroll
            for (int u = 0; u < U; ++u) {
                fold.first(got[u][0]);
#pragma unroll
                for (int pe = 1; pe < N; ++pe) fold.next(ReduceOp::sum, got[u][pe]);
                const Unit result = fold.result();
                if (where.dst) store_unit(where.dst + at + u * step, result);
                spread(where, at + u * step, result);
            }
        }
        return at;
    }

    __device__ void relay(unsigned round) const {
        const bool is_root = me() == call_.root;
        const Span own = rounds_.merged(round, me());
        const char* from = is_root ? src() + own.at : stage_ + rounds_.slot(round, 0, call_.root);
        for (int k = 0; k < n(); ++k) {
            const int pe = (me() + k) % n();
            const Span part = rounds_.merged(round, pe);
            if (returns(me(), pe)) copy(merges, there(rounds_.slot(round, 1, me()), pe), from, own.bytes);
            // No PE returns the root's parts to it.
            if (is_root && dst() != src()) copy(merges, dst() + part.at, src() + part.at, part.bytes);
        }
        if (!is_root) copy(merges, dst() + own.at, from, own.bytes);
    }

    const GroupCall& call_;
    StagedRounds rounds_;
    char* stage_;
};

/// Runs the crews. Each flag that a crew tells is awaited in the same call, so the next call may clear it.
/// All stores by others to this PE's stage have then arrived, too, so the next call may divide it
/// differently.
template <class Merge> __device__ void run(const StagedCall& staged, Merge merge) {
    constexpr unsigned ahead = StagedRounds::in_flight;
    const GroupCall& call = staged.group;
    const Steps steps(staged);
    const int n = call.team.n_pes;
    const unsigned epoch = *own_count(call) + 1, rounds = steps.rounds();
    const bool has_results = StagedRounds::is_divided(call.kind);
    steps.clear_flags();
    meet(call, epoch);
    if (renews(epoch)) [[unlikely]]
        renew(call, epoch & 1, epoch);
    const unsigned t = threadIdx.x;
    const auto crew =
        static_cast<Crew>(t < notifiers_from ? t / mover_threads : (t - notifiers_from) / notifier_threads);
    const InCrew in(crew);
#pragma unroll 1
    for (unsigned r = 0; r < rounds; ++r) {
        const bool reuses = r >= ahead, is_reused = r + ahead < rounds;
        if (n == 1 && (t >= notifiers_from || crew != merges)) break;
        if (t >= notifiers_from) {
            if (crew == pushes || has_results || is_reused) steps.notify_round(crew, r);
        } else if (crew == pushes) {
            if (reuses) steps.await(in, merges, r + 1 - ahead);
            steps.push(r);
            in.pass_on(r);
        } else if (crew == merges) {
            if (reuses && has_results) steps.await(in, collects, r + 1 - ahead);
            steps.await(in, pushes, r + 1);
            merge(steps, r);
            if (n > 1 && (has_results || is_reused)) in.pass_on(r);
        } else if (has_results) {
            steps.await(in, merges, r + 1);
            steps.collect(r);
            in.sync();
            if (is_reused) steps.notify(collects, r + 1, in.rank(), in.size());
        }
    }
    finish(call, epoch);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(block_threads, 1) atoll_staged(const StagedCall call) {
    run(call, [](const Steps& steps, unsigned round) { steps.unpack(round); });
}

/// Sums of the types that GPU programs add most. Separate kernels, so that their registers are not spilled
/// for the others.
template <bool Scaled> __device__ void sum(const StagedCall& call) {
    run(call, [&](const Steps& steps, unsigned round) {
        with_common_fold<Scaled>(call.group.type, [&](auto fold) { steps.fold<true>(round, fold); });
    });
}
extern "C" __global__ void __launch_bounds__(block_threads, 1) atoll_staged_sum(const StagedCall call) {
    sum<false>(call);
}
/// Averages and scaled sums.
extern "C" __global__ void __launch_bounds__(block_threads, 1)
    atoll_staged_sum_scaled(const StagedCall call) {
    sum<true>(call);
}

extern "C" __global__ void __launch_bounds__(block_threads, 1) atoll_staged_fold(const StagedCall call) {
    run(call, [&](const Steps& steps, unsigned round) {
        with_fold(call.group.type, [&](auto fold) { steps.fold<false>(round, fold); });
    });
}

}  // namespace atl::kernels
