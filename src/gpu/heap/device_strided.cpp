// Strided copies between the host and GPUs' memory: one kernel for any number of blocks. One copy for each
// block would cost a launch each (docs/measurements/2026-11-24-constants.md).
#include "atoll/detail/memory_ops.hpp"
#include "gpu/heap/borrowed_lane.hpp"

#include <algorithm>
#include <cstdlib>

namespace atl::gpu {

namespace {

/// From this size on a copy engine for each block is as fast: its start costs little compared with the block.
constexpr std::uint64_t block_by_block_from_bytes = std::uint64_t{256} << 10;

StridedCall part_of(const StridedCall& all, std::uint64_t first, std::uint64_t count) {
    const auto at = static_cast<std::int64_t>(first);
    StridedCall part = all;
    part.dst = static_cast<char*>(all.dst) + at * all.dst_stride;
    part.src = static_cast<const char*>(all.src) + at * all.src_stride;
    part.count = count;
    return part;
}

/// Stages contiguous blocks in pinned memory.
void staged(const DeviceMemory& device, const StridedCall& copy, bool is_put) {
    const BorrowedLane lane(device, BorrowedLane::Staging::pinned);
    const std::uint64_t most = lane_pinned_bytes / copy.block_bytes;
    for (std::uint64_t first = 0; first < copy.count; first += most) {
        StridedCall on_host = part_of(copy, first, std::min(most, copy.count - first));
        StridedCall on_gpu = on_host;
        const auto packed = static_cast<std::int64_t>(copy.block_bytes);
        (is_put ? on_host : on_gpu).dst = lane.pinned();
        (is_put ? on_host : on_gpu).dst_stride = packed;
        (is_put ? on_gpu : on_host).src = lane.pinned();
        (is_put ? on_gpu : on_host).src_stride = packed;
        if (is_put) copy_on_host(on_host);
        lane.run(on_gpu);
        if (!is_put) copy_on_host(on_host);
    }
}

}  // namespace

LocalRange local_range(const StridedCall& copy, bool is_put) noexcept {
    const auto* first = static_cast<const char*>(is_put ? copy.src : copy.dst);
    const std::int64_t reach =
        static_cast<std::int64_t>(copy.count - 1) * (is_put ? copy.src_stride : copy.dst_stride);
    return {first + std::min(reach, std::int64_t{0}),
            static_cast<std::size_t>(std::abs(reach)) + copy.block_bytes};
}

void copy_on_host(const StridedCall& copy) {
    for (std::uint64_t i = 0; i < copy.count; ++i) {
        const StridedCall block = part_of(copy, i, 1);
        detail::copy(block.dst, block.src, copy.block_bytes);
    }
}

void DeviceCopies::strided_with_host(const StridedCall& copy, bool from_gpu) const {
    if (copy.count != 1 && copy.block_bytes < block_by_block_from_bytes)
        return staged(device_, copy, !from_gpu);
    for (std::uint64_t i = 0; i < copy.count; ++i) {
        const StridedCall block = part_of(copy, i, 1);
        if (from_gpu)
            copy_to_host(block.dst, block.src, copy.block_bytes);
        else
            copy_from_host(block.dst, block.src, copy.block_bytes);
    }
}

void DeviceCopies::strided_here(const StridedCall& copy) const {
    if (copy.count == 1 || copy.block_bytes >= block_by_block_from_bytes) {
        for (std::uint64_t i = 0; i < copy.count; ++i) {
            const StridedCall block = part_of(copy, i, 1);
            this->copy(block.dst, block.src, copy.block_bytes);
        }
    } else {
        BorrowedLane(device_, BorrowedLane::Staging::none).run(copy);
    }
}

void DeviceCopies::strided(const StridedCall& copy, int pe, bool is_put) const {
    StridedCall there = copy;
    if (is_put)
        there.dst = device_.at(copy.dst, pe);
    else
        there.src = device_.at(copy.src, pe);
    const bool few = copy.count == 1 || copy.block_bytes >= block_by_block_from_bytes;
    const LocalRange local = local_range(copy, is_put);
    if (few || device_.local().reaches(local.low, local.bytes))
        strided_here(there);
    else
        staged(device_, there, is_put);
}

}  // namespace atl::gpu
