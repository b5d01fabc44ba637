#include "gpu/device_server.hpp"

#include "atoll/detail/memory_ops.hpp"
#include "atoll/error.hpp"
#include "transport/apply_atomic.hpp"

#include <cstring>

namespace atl::gpu {

DeviceServer::DeviceServer(Gpu& gpu, char* base, std::size_t bytes)
    : facts_(gpu.facts()),
      executor_(gpu.executor()),
      pinning_(gpu.pinning()),
      base_(base),
      bytes_(bytes),
      stream_(executor_.make_stream()),
      ring_(static_cast<char*>(pinning_.pin(ring_bytes + sizeof *fetched_))),
      fetched_(reinterpret_cast<std::uint64_t*>(ring_ + ring_bytes)) {}

char* DeviceServer::address_at(std::uint64_t offset, std::size_t bytes) const {
    if (offset <= bytes_ && bytes <= bytes_ - offset) return base_ + offset;
    throw Error(ErrorCode::not_symmetric, "another PE sent an operation on " + std::to_string(bytes) +
                                              " bytes at " + std::to_string(offset) +
                                              ", outside of a device heap");
}

char* DeviceServer::ring_for(std::size_t bytes) {
    if (bytes > ring_bytes - used_) {
        settle();
        used_ = 0;
    }
    char* at = ring_ + used_;
    used_ += (bytes + 15) / 16 * 16;
    return at;
}

char* DeviceServer::staged(const void* src, std::size_t bytes) {
    char* at = ring_for(bytes);
    std::memcpy(at, src, bytes);
    return at;
}

void DeviceServer::put(std::uint64_t offset, const void* src, std::size_t bytes) {
    executor_.begin_copy(address_at(offset, bytes), staged(src, bytes), bytes, stream_);
}

void DeviceServer::get(void* dst, std::uint64_t offset, std::size_t bytes) {
    executor_.begin_copy(dst, address_at(offset, bytes), bytes, stream_);
    settle();
}

void DeviceServer::put_blocks(std::uint64_t offset, const void* src, const transport::Blocks& blocks) {
    const std::size_t reach = detail::extent_bytes(static_cast<std::ptrdiff_t>(blocks.remote_stride),
                                                   blocks.block_bytes, blocks.n_blocks, 1);
    executor_.start(
        StridedCall{address_at(offset, reach), staged(src, blocks.block_bytes * blocks.n_blocks),
                    static_cast<std::int64_t>(blocks.remote_stride),
                    static_cast<std::int64_t>(blocks.block_bytes), blocks.block_bytes, blocks.n_blocks},
        stream_);
}

void DeviceServer::get_blocks(void* dst, std::uint64_t offset, const transport::Blocks& blocks) {
    const std::size_t bytes = blocks.block_bytes * blocks.n_blocks;
    const std::size_t reach = detail::extent_bytes(static_cast<std::ptrdiff_t>(blocks.remote_stride),
                                                   blocks.block_bytes, blocks.n_blocks, 1);
    char* packed = ring_for(bytes);
    executor_.start(
        StridedCall{packed, address_at(offset, reach), static_cast<std::int64_t>(blocks.block_bytes),
                    static_cast<std::int64_t>(blocks.remote_stride), blocks.block_bytes, blocks.n_blocks},
        stream_);
    settle();
    std::memcpy(dst, packed, bytes);
}

std::uint64_t DeviceServer::atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                                   std::uint64_t compare) {
    const bool fetches = transport::is_fetching(op);
    if (fetches) *fetched_ = 0;
    executor_.start(
        WordCall{address_at(offset, size_of(type)), fetches ? fetched_ : nullptr, value, compare, op, type},
        stream_);
    if (!fetches) return 0;
    settle();
    return *fetched_;
}

}  // namespace atl::gpu
