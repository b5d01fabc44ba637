// Point-to-point operations of a stream: copies, atomics and waits.
#include "atoll/device/signals.hpp"
#include "gpu/cuda/kernels/polls.hpp"
#include "gpu/cuda/kernels/whole_grid.cuh"
#include "gpu/device_calls.hpp"

namespace atl::kernels {

using gpu::CopyCall;
using gpu::StridedCall;
using gpu::WaitCall;
using gpu::WordCall;

namespace {

template <class T> __device__ void copy_elements(const StridedCall& call) {
    constexpr WholeGrid scope;
    const unsigned long long in_block = call.block_bytes / sizeof(T);
    for (unsigned long long i = scope.rank(); i < call.count * in_block; i += scope.size()) {
        const auto block = static_cast<long long>(i / in_block);
        const auto k = i % in_block;
        reinterpret_cast<T*>(static_cast<char*>(call.dst) + block * call.dst_stride)[k] =
            reinterpret_cast<const T*>(static_cast<const char*>(call.src) + block * call.src_stride)[k];
    }
}

template <class T> __device__ T value_of(std::uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/// Bitwise operations, on unsigned words of the same size; the result is the same.
template <class U> __device__ U bitwise(AtomicOp op, U* word, U value, U compare) {
    switch (op) {
        case AtomicOp::fetch:
            return atomicOr_system(word, U{0});
        case AtomicOp::set:
        case AtomicOp::swap:
            return atomicExch_system(word, value);
        case AtomicOp::compare_swap:
            return atomicCAS_system(word, compare, value);
        case AtomicOp::bit_and:
        case AtomicOp::fetch_and:
            return atomicAnd_system(word, value);
        case AtomicOp::bit_or:
        case AtomicOp::fetch_or:
            return atomicOr_system(word, value);
        default:
            return atomicXor_system(word, value);
    }
}

template <class T, class U> __device__ U apply(const WordCall& call) {
    if (call.op == AtomicOp::add || call.op == AtomicOp::fetch_add) {
        const T old = atomicAdd_system(static_cast<T*>(call.word), value_of<T>(call.value));
        U bits;
        memcpy(&bits, &old, sizeof bits);
        return bits;
    }
    return bitwise(call.op, static_cast<U*>(call.word), static_cast<U>(call.value),
                   static_cast<U>(call.compare));
}

}  // namespace

/// A signal needs a grid of one block: its barrier and one release order the data before the word.
extern "C" __global__ void atoll_copy(const CopyCall call) {
    device::detail::copy(call.dst, call.src, call.bytes, WholeGrid{});
    if (!call.signal) return;
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (call.signal_op == SignalOp::set)
        device::store_release(call.signal, call.value);
    else
        device::detail::add_release(call.signal, call.value);
}

extern "C" __global__ void atoll_strided(const StridedCall call) {
    const auto all = reinterpret_cast<unsigned long long>(call.dst) |
                     reinterpret_cast<unsigned long long>(call.src) |
                     static_cast<unsigned long long>(call.dst_stride | call.src_stride) | call.block_bytes;
    if (all % 16 == 0)
        copy_elements<device::detail::Quad>(call);
    else if (all % 8 == 0)
        copy_elements<unsigned long long>(call);
    else if (all % 4 == 0)
        copy_elements<unsigned>(call);
    else if (all % 2 == 0)
        copy_elements<unsigned short>(call);
    else
        copy_elements<char>(call);
}

extern "C" __global__ void atoll_word(const WordCall call) {
    std::uint64_t old = 0;
    unsigned bytes = 4;
    switch (call.type) {
        case DType::int8:
        case DType::uint8:
            *static_cast<volatile unsigned char*>(call.word) = static_cast<unsigned char>(call.value);
            return;
        case DType::int16:
        case DType::uint16:
            *static_cast<volatile unsigned short*>(call.word) = static_cast<unsigned short>(call.value);
            return;
        case DType::float32:
            old = apply<float, unsigned>(call);
            break;
        case DType::float64:
            old = apply<double, unsigned long long>(call);
            bytes = 8;
            break;
        case DType::int64:
        case DType::uint64:
            old = apply<unsigned long long, unsigned long long>(call);
            bytes = 8;
            break;
        default:
            old = apply<unsigned, unsigned>(call);
    }
    if (!call.result) return;
    if (bytes == 8)
        *static_cast<std::uint64_t*>(call.result) = old;
    else
        *static_cast<unsigned*>(call.result) = static_cast<unsigned>(old);
}

extern "C" __global__ void atoll_wait(const WaitCall call) {
    std::uint64_t found = 0;
    const auto met = [&] {
        found = poll(call.word, call.type);
        return holds(found, call.compare, call.value, call.type);
    };
    device::detail::spin(call.team, met, [&] {
        device::Report report = device::detail::waiting(call.team.control, {call.operation, 0, 0}, call.word);
        report.subject = device::Subject::word;
        report.compare = call.compare;
        report.values = call.reported_values;
        report.expected = call.value;
        report.found = found;
        return report;
    });
    if (call.operation == device::Operation::signal_consume)
        atomicAdd_system(static_cast<unsigned long long*>(call.word),
                         0 - static_cast<unsigned long long>(call.value));
}

/// Runs as a kernel, since the driver tells no clock of the GPU.
extern "C" __global__ void atoll_clock(const gpu::ClockCall call) {
    device::store_relaxed(reinterpret_cast<unsigned long long*>(call.result), device::detail::now_ns());
}

extern "C" __global__ void atoll_far(const gpu::FarCall call) {
    device::detail::FarPending pending{};
    pending.request = call.request;
    pending.control = call.team.control;
    device::detail::far_request(pending, call.ring, call.tickets);
}

}  // namespace atl::kernels
