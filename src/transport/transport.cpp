// Default implementations of operations through other operations, for transports without a better one.
#include "transport/transport.hpp"

#include "atoll/detail/memory_ops.hpp"

namespace atl::transport {

void Atomics::fetch_atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                           std::uint64_t value, std::uint64_t compare, void* result) {
    const std::uint64_t before = atomic(context, pe, offset, op, type, value, compare);
    std::memcpy(result, &before, size_of(type));
}

void Transport::put_signal(ContextId context, int pe, std::uint64_t offset, const void* src,
                           std::size_t bytes, const Signal& signal, Completion completion) {
    if (bytes != 0) {
        put(context, pe, offset, src, bytes, completion);
        fence(context, pe);
    }
    const AtomicOp op = signal.op == SignalOp::set ? AtomicOp::set : AtomicOp::add;
    atomic(context, pe, signal.offset, op, DType::uint64, signal.value, 0);
}

void Movement::put_blocks(ContextId context, int pe, std::uint64_t offset, const void* src,
                          const Blocks& blocks) {
    const auto* from = static_cast<const char*>(src);
    for (std::size_t i = 0; i < blocks.n_blocks; ++i)
        put(context, pe, offset + i * blocks.remote_stride, from + i * blocks.local_stride,
            blocks.block_bytes, Completion::local);
}

void Movement::get_blocks(ContextId context, int pe, std::uint64_t offset, void* dst, const Blocks& blocks) {
    auto* to = static_cast<char*>(dst);
    for (std::size_t i = 0; i < blocks.n_blocks; ++i)
        get(context, pe, offset + i * blocks.remote_stride, to + i * blocks.local_stride, blocks.block_bytes,
            Completion::local);
}

}  // namespace atl::transport
