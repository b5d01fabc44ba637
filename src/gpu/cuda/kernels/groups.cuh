// Common parts of stream-ordered collectives: how blocks of the same number synchronize, words that carry
// flags, and the exchange of values before it.
#pragma once

#include "atoll/device/rma.hpp"
#include "atoll/device/wait.hpp"
#include "gpu/cuda/kernels/units.cuh"
#include "gpu/device_calls.hpp"

namespace atl::kernels {

using gpu::Group;
using gpu::GroupCall;
using gpu::GroupMemory;
using gpu::is_by_source;
using gpu::is_by_target;
using gpu::is_from_root;

__device__ inline bool reached(unsigned a, unsigned b) { return static_cast<int>(a - b) >= 0; }

__device__ inline unsigned* own_count(const GroupCall& call) {
    return reinterpret_cast<unsigned*>(call.memory + GroupMemory::count_at(blockIdx.x));
}
/// The word on PE `at` in which `from` stores how often this block has met.
__device__ inline unsigned* flag(const GroupCall& call, int at, int from) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    return reinterpret_cast<unsigned*>(device::detail::at(call.team, call.memory, at) +
                                       memory.flag_at(blockIdx.x, from));
}

__device__ inline device::Report awaited(const GroupCall& call, int pe, const unsigned* word,
                                         unsigned epoch) {
    return device::detail::waiting(call.team.control, {call.operation, 0, 0}, word, device::Compare::ge,
                                   epoch, pe);
}

/// Synchronizes with the blocks of the same number on all PEs. Earlier work of their streams is then visible
/// to all threads.
__device__ inline void meet(const GroupCall& call, unsigned epoch) {
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

__device__ inline bool sends(const GroupCall& call, int from, int to) {
    if (is_from_root(call.kind)) return from == call.root;
    return call.kind != Group::gather || to == call.root;
}
__device__ inline bool folds(Group kind) { return kind == Group::reduce || kind == Group::reduce_scatter; }
/// True if the result of a large fold is stored on this PE alone.
__device__ inline bool keeps(Group kind) { return kind != Group::reduce; }
/// The senders and receivers of an Exchange, for most kinds.
struct ByKind {
    static __device__ bool sends(const GroupCall& call, int from, int to) {
        return kernels::sends(call, from, to);
    }
};
__device__ inline Scaling scaling_of(const GroupCall& call) {
    return {call.scale, call.op == ReduceOp::avg ? call.team.n_pes : 1};
}
template <bool Scaled, class Body> __device__ void with_fold(const GroupCall& call, Body&& body) {
    if constexpr (Scaled)
        with_common_fold<true>(call.type, body);
    else
        kernels::with_fold(call.type, body);
}

// Flags have 32 bits. Words that small messages do not touch would appear new when their number recurs. Each
// block therefore renews the flags of its words once in 2^30 of its meetings.

__device__ inline bool renews(unsigned epoch) { return (epoch & 0x3fffffffu) < 2; }

/// Renews the flags of one parity. No PE writes such words at that time: their senders wait for this block's
/// next meeting. The call is passed by its values, because taking its address would move it to local memory
/// for all code.
inline __device__ __noinline__ void renew(char* words, const GroupMemory memory, unsigned parity,
                                          unsigned epoch) {
    if (blockIdx.x >= memory.exchange_blocks()) return;
    __syncthreads();  // all threads have read
    for (int from = 0; from < memory.n_pes; ++from)
        for (unsigned i = threadIdx.x; i < GroupMemory::exchange_threads; i += blockDim.x)
            post(words + memory.words_at(parity, from, blockIdx.x) + i * 2ull * sizeof(Unit), Unit{}, epoch);
}
__device__ inline void renew(const GroupCall& call, unsigned parity, unsigned epoch) {
    renew(call.memory, GroupMemory{call.team.n_pes, call.words_bytes}, parity, epoch);
}

/// A thread's 16 bytes of a small message.
template <class Flow> class Exchange {
  public:
    /// Issues the first loads together: this block's count of meetings, the first message, and the progress
    /// of the PE of this lane's number.
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
            if (!Flow::sends(call_, me, pe)) continue;
            post(device::detail::at(call_.team, call_.memory, pe) + slot_offset(me), k == 1 ? mine_ : own(pe),
                 epoch_);
        }
    }
    __device__ Unit receive(int from) const {
        if (from == call_.team.my_pe) return own(from);
        Unit unit;
        device::detail::spin(
            call_.team, [&] { return arrived(call_.memory + slot_offset(from), unit, epoch_); },
            [&] {
                return awaited(call_, from,
                               reinterpret_cast<const unsigned*>(call_.memory + slot_offset(from)) + 1,
                               epoch_);
            });
        return unit;
    }
    __device__ void store(int from, const Unit& unit) const {
        const unsigned long long block = is_by_source(call_.kind) ? static_cast<unsigned long long>(from) : 0;
        store_part(static_cast<char*>(call_.dst) + block * call_.dst_stride + at_, bytes_, unit);
    }

  private:
    __device__ bool reads_source() const {
        return !is_from_root(call_.kind) || call_.team.my_pe == call_.root;
    }
    __device__ Unit load_own(int target) const {
        const unsigned long long block =
            is_by_target(call_.kind) ? static_cast<unsigned long long>(target) : 0;
        return load_part(static_cast<const char*>(call_.src) + block * call_.src_stride + at_, bytes_);
    }
    __device__ Unit own(int target) const { return is_by_target(call_.kind) ? load_own(target) : mine_; }
    /// Waits until the receivers have begun their previous call: then they have read the words that this one
    /// overwrites. A warp's lanes check for all of its threads.
    __device__ void wait_for_readers() const {
        const int lane = static_cast<int>(threadIdx.x % 32), me = call_.team.my_pe;
        for (int pe = lane; pe < call_.team.n_pes; pe += 32) {
            if (pe == me || !Flow::sends(call_, me, pe)) continue;
            const unsigned* word = flag(call_, me, pe);
            if (pe != lane || !reached(begun_, epoch_ - 1))
                device::detail::spin(
                    call_.team, [&] { return reached(device::load_relaxed(word), epoch_ - 1); },
                    [&] { return awaited(call_, pe, word, epoch_ - 1); });
        }
        __syncwarp();
    }
    __device__ unsigned long long slot_offset(int from) const {
        return memory_.words_at(epoch_ & 1, from, blockIdx.x) + threadIdx.x * 2ull * sizeof(Unit);
    }
    const GroupCall& call_;
    GroupMemory memory_;
    unsigned long long at_;
    unsigned long long bytes_;
    unsigned epoch_;
    unsigned begun_;  ///< the last call that the PE of this lane's number had begun
    Unit mine_;       ///< the message to the next PE, which most kinds send to every PE
};

/// The ranges that parts of a large fold read and write.
struct Part {
    unsigned long long first, last;  ///< bytes of a block of the source
    unsigned long long from;         ///< the offset of the block in the source (reduce_scatter)
};

__device__ inline Part own_part(const GroupCall& call) {
    const auto me = static_cast<unsigned long long>(call.team.my_pe);
    if (call.kind == Group::reduce_scatter) return {0, call.bytes, me * call.bytes};
    const gpu::GroupPart part = gpu::group_part(call.bytes, call.team.n_pes, call.team.my_pe);
    return {part.first, part.last, 0};
}

__device__ inline void finish(const GroupCall& call, unsigned epoch) {
    __syncthreads();
    if (threadIdx.x == 0) *own_count(call) = epoch;
}

/// Runs `body` between two meetings; no PE sends words in that time. For `reduce_part`, a second kernel does
/// the second meeting.
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

/// Sends the offset of the root's array, which the others need not know. Call it before the blocks meet.
__device__ inline void publish_root_array(const GroupCall& call, const void* array) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    const long long offset =
        static_cast<const char*>(array) - call.team.window - call.team.my_slot * call.team.stride;
    for (int pe = static_cast<int>(threadIdx.x); pe < call.team.n_pes; pe += static_cast<int>(blockDim.x))
        device::store_relaxed(reinterpret_cast<long long*>(device::detail::at(call.team, call.memory, pe) +
                                                           memory.root_at(blockIdx.x)),
                              offset);
}
__device__ inline char* root_array(const GroupCall& call) {
    const GroupMemory memory{call.team.n_pes, call.words_bytes};
    const long long offset =
        device::load_relaxed(reinterpret_cast<const long long*>(call.memory + memory.root_at(blockIdx.x)));
    return call.team.window + device::slot_of(call.team, call.root) * call.team.stride + offset;
}

}  // namespace atl::kernels
