// Collectives in the order of a stream. Small ones: one kernel that pushes words with their own flags and
// folds what comes. Large ones: blocks meet their namesakes, pull (and fold, and push), and meet again; of
// the largest reductions copy engines do what is pushed and another kernel the second meeting.
#include "atoll/device/rma.hpp"
#include "atoll/device/wait.hpp"
#include "cuda/kernels/everybody.cuh"
#include "cuda/kernels/units.cuh"
#include "heap/device_calls.hpp"

namespace atl::kernels {

using heap::Group;
using heap::GroupCall;
using heap::GroupMemory;

namespace {

__device__ bool reached(unsigned a, unsigned b) { return static_cast<int>(a - b) >= 0; }

__device__ unsigned* own_count(const GroupCall& call) {
    return reinterpret_cast<unsigned*>(call.memory + GroupMemory::count_at(blockIdx.x));
}
/// Where `from` tells `at` how often this block has met.
__device__ unsigned* flag(const GroupCall& call, int at, int from) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    return reinterpret_cast<unsigned*>(device::detail::at(call.team, call.memory, at) +
                                       memory.flag_at(blockIdx.x, from));
}

__device__ device::Report awaited(const GroupCall& call, int pe, const unsigned* word, unsigned epoch) {
    return device::detail::waiting(call.team.control, {call.operation, 0, 0}, word, device::Compare::ge,
                                   epoch, pe);
}

/// All PEs' blocks of this number are here, and what their PEs' streams did before is visible to all threads.
__device__ void meet(const GroupCall& call, unsigned epoch) {
    const int n = call.team.n_pes, me = call.team.my_pe;
    __syncthreads();
    for (int pe = static_cast<int>(threadIdx.x); pe < n; pe += static_cast<int>(blockDim.x))
        if (pe != me) device::store_release(flag(call, pe, me), epoch);
    for (int pe = static_cast<int>(threadIdx.x); pe < n; pe += static_cast<int>(blockDim.x))
        if (pe != me)
            device::detail::spin(
                call.team, [&] { return reached(device::load_acquire(flag(call, me, pe)), epoch); },
                [&] { return awaited(call, pe, flag(call, me, pe), epoch); });
    __syncthreads();
}

/// Whose block stands at a place of its own in the source, or in the target.
__device__ bool source_by_target(Group kind) {
    return kind == Group::alltoall || kind == Group::reduce_scatter || kind == Group::scatter;
}
__device__ bool target_by_source(Group kind) {
    return kind == Group::fcollect || kind == Group::alltoall || kind == Group::gather;
}
__device__ bool is_from_root(Group kind) { return kind == Group::broadcast || kind == Group::scatter; }
__device__ bool sends(const GroupCall& call, int from, int to) {
    if (is_from_root(call.kind)) return from == call.root;
    return call.kind != Group::gather || to == call.root;
}
__device__ bool folds(Group kind) { return kind == Group::reduce || kind == Group::reduce_scatter; }
/// What a large fold makes is stored here alone.
__device__ bool keeps(Group kind) { return kind != Group::reduce; }
__device__ Scaling scaling_of(const GroupCall& call) {
    return {call.scale, call.op == ReduceOp::avg ? call.team.n_pes : 1};
}
template <bool Scaled, class Body> __device__ void with_fold(const GroupCall& call, Body&& body) {
    if constexpr (Scaled)
        with_scaled_fold(call.type, body);
    else
        kernels::with_fold(call.type, body);
}

// Flags have 32 bits, so words that small messages leave untouched would pass for new ones when their number
// comes again. Each block gives its own words a new flag once in 2^30 of its meetings.

__device__ bool renews(unsigned epoch) { return (epoch & 0x3fffffffu) < 2; }

/// At a time when no PE writes words of that parity: their senders wait for this block's next meeting.
/// Values, not the call: whose address is taken would stand in local memory, for all other code too.
__device__ __noinline__ void renew(char* words, const GroupMemory memory, unsigned parity, unsigned epoch) {
    if (blockIdx.x >= memory.exchange_blocks()) return;
    __syncthreads();  // all have read
    for (int from = 0; from < memory.n_pes; ++from)
        for (unsigned i = threadIdx.x; i < GroupMemory::exchange_threads; i += blockDim.x)
            post(words + memory.words_at(parity, from, blockIdx.x) + i * 2ull * sizeof(Unit), Unit{}, epoch);
}
__device__ void renew(const GroupCall& call, unsigned parity, unsigned epoch) {
    renew(call.memory, GroupMemory{call.team.n_pes, call.words_bytes}, parity, epoch);
}

/// A thread's 16 bytes of a small message.
class Exchange {
  public:
    /// What is needed first is loaded at once: how often this block has met, what the first message holds,
    /// and how far the PE of this lane's number is.
    __device__ explicit Exchange(const GroupCall& call)
        : call_(call),
          memory_{call.team.n_pes, call.words_bytes},
          at_((static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x) * sizeof(Unit)),
          bytes_(at_ < call.bytes ? call.bytes - at_ : 0),
          mine_{} {
        const unsigned met = device::load_relaxed(own_count(call));
        const int lane = static_cast<int>(threadIdx.x % 32), me = call.team.my_pe, n = call.team.n_pes;
        begun_ = lane < n ? device::load_relaxed(flag(call, me, lane)) : 0;
        if (has_part() && reads_source()) mine_ = load_own(me + 1 < n ? me + 1 : 0);
        epoch_ = met + 1;
    }
    __device__ unsigned epoch() const { return epoch_; }
    __device__ bool has_part() const { return bytes_ != 0; }

    __device__ void send() const {
        const int n = call_.team.n_pes, me = call_.team.my_pe;
        if (static_cast<int>(threadIdx.x) < n && static_cast<int>(threadIdx.x) != me)
            device::store_relaxed(flag(call_, static_cast<int>(threadIdx.x), me), epoch_);
        wait_for_readers();
        if (!has_part()) return;
        for (int k = 1; k < n; ++k) {
            const int pe = me + k < n ? me + k : me + k - n;
            if (!sends(call_, me, pe)) continue;
            post(device::detail::at(call_.team, call_.memory, pe) + place(me), k == 1 ? mine_ : own(pe),
                 epoch_);
        }
    }
    __device__ Unit receive(int from) const {
        if (from == call_.team.my_pe) return own(from);
        Unit unit;
        device::detail::spin(
            call_.team, [&] { return arrived(call_.memory + place(from), unit, epoch_); },
            [&] {
                return awaited(call_, from, reinterpret_cast<const unsigned*>(call_.memory + place(from)) + 1,
                               epoch_);
            });
        return unit;
    }
    __device__ void store(int from, const Unit& unit) const {
        const unsigned long long block =
            target_by_source(call_.kind) ? static_cast<unsigned long long>(from) : 0;
        store_part(static_cast<char*>(call_.dst) + block * call_.dst_stride + at_, bytes_, unit);
    }

  private:
    __device__ bool reads_source() const {
        return !is_from_root(call_.kind) || call_.team.my_pe == call_.root;
    }
    __device__ Unit load_own(int target) const {
        const unsigned long long block =
            source_by_target(call_.kind) ? static_cast<unsigned long long>(target) : 0;
        return load_part(static_cast<const char*>(call_.src) + block * call_.src_stride + at_, bytes_);
    }
    __device__ Unit own(int target) const { return source_by_target(call_.kind) ? load_own(target) : mine_; }
    /// Whom words are sent to has begun its previous call, so it has read what these words overwrite. A
    /// warp's lanes look for all of its threads.
    __device__ void wait_for_readers() const {
        const int lane = static_cast<int>(threadIdx.x % 32), me = call_.team.my_pe;
        for (int pe = lane; pe < call_.team.n_pes; pe += 32) {
            if (pe == me || !sends(call_, me, pe)) continue;
            const unsigned* word = flag(call_, me, pe);
            if (pe != lane || !reached(begun_, epoch_ - 1))
                device::detail::spin(
                    call_.team, [&] { return reached(device::load_relaxed(word), epoch_ - 1); },
                    [&] { return awaited(call_, pe, word, epoch_ - 1); });
        }
        __syncwarp();
    }
    __device__ unsigned long long place(int from) const {
        return memory_.words_at(epoch_ & 1, from, blockIdx.x) + threadIdx.x * 2ull * sizeof(Unit);
    }
    const GroupCall& call_;
    GroupMemory memory_;
    unsigned long long at_;
    unsigned long long bytes_;
    unsigned epoch_;
    unsigned begun_;  ///< the last call that the PE of this lane's number had begun
    Unit mine_;       ///< for the next PE, which most kinds send to everybody
};

/// 16 bytes each of all PEs' sources. A fixed number of PEs keeps them in registers, all loads in flight at
/// once.
template <int N> struct Gathered { Unit units[N]; };

/// Where parts of a large fold are read and written.
struct Part {
    unsigned long long first, last;  ///< bytes of a block of the source
    unsigned long long from;         ///< what stands before it in the source: reduce_scatter's own block
};

__device__ Part own_part(const GroupCall& call) {
    const auto me = static_cast<unsigned long long>(call.team.my_pe);
    if (call.kind == Group::reduce_scatter) return {0, call.bytes, me * call.bytes};
    const heap::GroupPart part = heap::group_part(call.bytes, call.team.n_pes, call.team.my_pe);
    return {part.first, part.last, 0};
}

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

/// Any number of PEs, any alignment.
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

/// N PEs, U units of each in flight; returns where it stopped: whole rounds only, the rest goes slowly.
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

/// Sums of what programs on GPUs add up most: in registers, many loads in flight. Returns how far it came.
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

__device__ void finish(const GroupCall& call, unsigned epoch) {
    __syncthreads();
    if (threadIdx.x == 0) *own_count(call) = epoch;
}

template <bool Scaled> __device__ void fold_part(const GroupCall& call) {
    const Part part = own_part(call);
    unsigned long long done = part.first;
    // The types that programs on GPUs add up most; the others are not worth their compile time.
    if (is_aligned(call, part) && (Scaled || call.op == ReduceOp::sum)) {
        if (call.type == DType::float32) done = sum_quickly<Fold<float, Scaled>>(call, part);
        if (call.type == DType::float64) done = sum_quickly<Fold<double, Scaled>>(call, part);
        if (call.type == DType::float16) done = sum_quickly<Fold<__half, Scaled>>(call, part);
        if (call.type == DType::bfloat16) done = sum_quickly<Fold<__nv_bfloat16, Scaled>>(call, part);
    }
    with_fold<Scaled>(call, [&](auto fold) { fold_slowly(call, part, done, fold); });
}

/// Between two meetings, in which nobody sends words. Of `reduce_part` the second is a kernel's of its own.
template <class Body> __device__ void between_meetings(const GroupCall& call, Body body) {
    const unsigned epoch = *own_count(call) + 1;
    meet(call, epoch);
    body();
    if (call.kind == Group::reduce_part) {
        if (renews(epoch)) [[unlikely]]
            renew(call, epoch & 1, epoch);
        return finish(call, epoch);
    }
    if (renews(epoch) || renews(epoch + 1)) [[unlikely]] {
        renew(call, 0, epoch);
        renew(call, 1, epoch);
    }
    meet(call, epoch + 1);
    finish(call, epoch + 1);
}

template <bool Scaled> __device__ void fold_large(const GroupCall& call) {
    between_meetings(call, [&] { fold_part<Scaled>(call); });
}

template <bool Scaled> __device__ void exchange_small(const GroupCall& call) {
    const Exchange exchange(call);
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

/// The root's source, which the others need not know: told before the blocks meet.
__device__ void tell_source(const GroupCall& call) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    const long long offset =
        static_cast<const char*>(call.src) - call.team.window - call.team.my_slot * call.team.stride;
    for (int pe = static_cast<int>(threadIdx.x); pe < call.team.n_pes; pe += static_cast<int>(blockDim.x))
        device::store_relaxed(reinterpret_cast<long long*>(device::detail::at(call.team, call.memory, pe) +
                                                           memory.root_at(blockIdx.x)),
                              offset);
}
__device__ const char* told_source(const GroupCall& call) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    const long long offset =
        device::load_relaxed(reinterpret_cast<const long long*>(call.memory + memory.root_at(blockIdx.x)));
    return call.team.window + device::slot_of(call.team, call.root) * call.team.stride + offset;
}

/// Every PE relays its part of the root's block to all, so the root sends each byte but once.
__device__ void relay(const GroupCall& call) {
    const Part part = own_part(call);
    const char* src = told_source(call) + part.first;
    for (int k = 0; k < call.team.n_pes; ++k) {
        const int pe = (call.team.my_pe + k) % call.team.n_pes;
        device::detail::copy(device::detail::at(call.team, static_cast<char*>(call.dst), pe) + part.first,
                             src, part.last - part.first, Everybody{});
    }
}

__device__ void pull(const GroupCall& call) {
    const int n = call.team.n_pes, me = call.team.my_pe;
    for (int k = 0; k < n; ++k) {
        const int pe = (me + k) % n;
        if (!sends(call, pe, me)) continue;
        const auto from = source_by_target(call.kind) ? static_cast<unsigned long long>(me) : 0;
        const auto to = target_by_source(call.kind) ? static_cast<unsigned long long>(pe) : 0;
        const char* theirs = is_from_root(call.kind)
                                 ? told_source(call)
                                 : device::detail::at(call.team, static_cast<const char*>(call.src), pe);
        device::detail::copy(static_cast<char*>(call.dst) + to * call.bytes, theirs + from * call.bytes,
                             call.bytes, Everybody{});
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

/// Of averages and scaled sums, apart: the other kernels are no slower for them.
extern "C" __global__ void __launch_bounds__(GroupMemory::exchange_threads)
    atoll_exchange_scaled(const GroupCall call) {
    exchange_small<true>(call);
}

/// Large collectives: sources and targets are symmetric.
extern "C" __global__ void __launch_bounds__(512, 1) atoll_pull(const GroupCall call) {
    if (is_from_root(call.kind) && call.team.my_pe == call.root) tell_source(call);
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
