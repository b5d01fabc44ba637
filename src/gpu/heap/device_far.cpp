// Operations on device heaps that a transport reaches, for the host, streams and kernels. The owner of the
// memory carries out the operations (device_server.hpp). Memory on this PE's own GPU is staged in pinned
// memory here.
#include "gpu/heap/device_memory.hpp"

#include <algorithm>
#include <optional>

namespace atl::gpu {

namespace {

using transport::Completion;
using transport::DeviceOwner;

/// Pinned memory, filled and emptied by a GPU.
class Staging {
  public:
    Staging(Lanes& lanes, const Far& far)
        : lanes_(lanes), borrowed_(far.lane == nullptr), lane_(borrowed_ ? lanes.take() : *far.lane) {
        lanes.pin(lane_);
    }
    ~Staging() {
        if (borrowed_) lanes_.release(lane_);
    }
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    char* pinned() const { return lane_.pinned; }
    static constexpr std::size_t bytes = std::min(lane_pinned_bytes, DeviceOwner::piece_bytes);

  private:
    Lanes& lanes_;
    const bool borrowed_;
    Lane lane_;
};

}  // namespace

bool DeviceFar::has(int pe) const noexcept {
    return pe != job_.pe && (by_transport_ || !job_.slots[static_cast<std::size_t>(pe)].is_near());
}

std::uint64_t DeviceFar::offset(const void* symmetric) const noexcept {
    return device_.offset_of(symmetric) | transport::in_device_heap;
}

void DeviceFar::put(const Far& far, std::uint64_t offset, const void* src, std::size_t bytes,
                    const transport::Signal* signal) const {
    const auto send = [&](std::uint64_t to, const void* from, std::size_t count, bool last) {
        if (last && signal)
            far.transport.put_signal(far.context, far.pe, to, from, count, *signal, Completion::local);
        else
            far.transport.put(far.context, far.pe, to, from, count, Completion::local);
    };
    if (bytes == 0 || !device_.local().is_on_gpu(src)) return send(offset, src, bytes, true);
    const Staging staging(device_.lanes(), far);
    for (std::size_t at = 0; at < bytes; at += Staging::bytes) {
        const std::size_t part = std::min(bytes - at, Staging::bytes);
        gpu_.executor().copy(staging.pinned(), static_cast<const char*>(src) + at, part);
        send(offset + at, staging.pinned(), part, at + part == bytes);
    }
}

void DeviceFar::get(const Far& far, void* dst, std::uint64_t offset, std::size_t bytes) const {
    const auto fetch = [&](void* to, std::size_t at, std::size_t part) {
        far.transport.get(far.context, far.pe, offset + at, to, part, Completion::local);
    };
    const bool here = device_.local().is_on_gpu(dst);
    std::optional<Staging> staging;
    if (here) staging.emplace(device_.lanes(), far);
    for (std::size_t at = 0; at < bytes; at += Staging::bytes) {
        const std::size_t part = std::min(bytes - at, Staging::bytes);
        char* to = static_cast<char*>(dst) + at;
        fetch(here ? staging->pinned() : to, at, part);
        if (here) gpu_.executor().copy(to, staging->pinned(), part);
    }
}

std::uint64_t DeviceFar::atomic(const Far& far, AtomicOp op, DType type, const void* dst, std::uint64_t value,
                                std::uint64_t compare) const {
    return far.transport.atomic(far.context, far.pe, offset(dst), op, type, value, compare);
}

void DeviceFar::strided(const Far& far, const StridedCall& copy, std::uint64_t offset, bool is_put) const {
    const auto remote_stride = static_cast<std::size_t>(is_put ? copy.dst_stride : copy.src_stride);
    const auto local_stride = static_cast<std::size_t>(is_put ? copy.src_stride : copy.dst_stride);
    char* local = is_put ? static_cast<char*>(const_cast<void*>(copy.src)) : static_cast<char*>(copy.dst);
    const std::size_t block = copy.block_bytes;
    const bool is_forward = static_cast<std::int64_t>(local_stride) > 0;  // neither backwards nor repeated
    if (block > Staging::bytes || !is_forward) {
        for (std::uint64_t i = 0; i < copy.count; ++i)
            if (is_put)
                put(far, offset + i * remote_stride, local + i * local_stride, block);
            else
                get(far, local + i * local_stride, offset + i * remote_stride, block);
        return;
    }
    const auto move = [&](std::uint64_t to, char* from, const transport::Blocks& blocks) {
        if (is_put)
            far.transport.put_blocks(far.context, far.pe, to, from, blocks);
        else
            far.transport.get_blocks(far.context, far.pe, to, from, blocks);
    };
    const bool here = device_.local().is_on_gpu(local);
    std::optional<Staging> staging;
    if (here) staging.emplace(device_.lanes(), far);
    const std::uint64_t most = Staging::bytes / block;
    for (std::uint64_t first = 0; first < copy.count; first += most) {
        const std::uint64_t n = std::min(most, copy.count - first);
        const std::uint64_t to = offset + first * remote_stride;
        char* from = local + first * local_stride;
        if (!here) {
            move(to, from, {block, n, remote_stride, local_stride});
            continue;
        }
        const auto near = static_cast<std::int64_t>(local_stride), packed = static_cast<std::int64_t>(block);
        if (is_put) device_.copies().strided_here({staging->pinned(), from, packed, near, block, n});
        move(to, staging->pinned(), {block, n, remote_stride, block});
        if (!is_put) device_.copies().strided_here({from, staging->pinned(), near, packed, block, n});
    }
}

}  // namespace atl::gpu
