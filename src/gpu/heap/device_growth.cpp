// Physical memory of a device heap: chunks, each on every GPU or on none, and registered buffers. Descriptors
// of both are sent to all PEs in the window.
#include "common/error_of.hpp"
#include "common/text.hpp"
#include "gpu/heap/device_memory.hpp"
#include "gpu/heap/growth.hpp"

#include <algorithm>

namespace atl::gpu {

namespace {

/// FNV hash, for comparison between PEs.
std::uint64_t hash_of(const std::vector<std::size_t>& numbers) {
    std::uint64_t hash = 14695981039346656037ULL;
    for (const std::size_t number : numbers) hash = (hash ^ number) * 1099511628211ULL;
    return hash;
}

}  // namespace

// ---- chunks

void DeviceMemory::grow_to(std::size_t end) {
    if (end <= taken_bytes_) return;
    const std::size_t granule = gpu_->facts().granularity_bytes;
    const std::size_t need = memory::round_up(end - taken_bytes_, granule);
    const std::size_t ahead = ahead_of_need(taken_bytes_, granule);
    if (ahead > need && extend(ahead, false)) return;
    extend(need, true);
}

/// Adds a chunk. Returns false (except on the last try) if a GPU has no room.
bool DeviceMemory::extend(std::size_t bytes, bool last_try) {
    ++chunks_;
    common::Fd chunk;
    const std::exception_ptr none_left = common::error_of([&] { chunk = gpu_->memory().extend(bytes); });
    ErrorCode code{};
    const int failed = first_failed(none_left, code);
    if (failed >= 0) {
        if (!none_left) gpu_->memory().withdraw();
        if (!last_try) return false;
        if (none_left) std::rethrow_exception(none_left);
        throw Error(code,
                    "PE " + std::to_string(failed) + "'s GPU does not have " + common::bytes_text(bytes) +
                        " more for the device heap, so no PE gets them; see that PE's message for its free "
                        "memory.");
    }
    try {
        settle("send its GPU memory's descriptor", common::error_of([&] { send_chunk(chunk); }));
        settle("map another PE's GPU memory", common::error_of([&] {
                   map_chunks([&](const common::FdChannel::Received& received) {
                       gpu_->memory().map_peer(slot_of(received.sender).number(), received.fd);
                   });
               }));
    } catch (...) {
        gpu_->memory().withdraw();
        throw;
    }
    if (server_) job_.transport->add_device_chunk(taken_bytes_, mine() + taken_bytes_, bytes);
    taken_bytes_ += bytes;
    chunk_bytes_.push_back(bytes);
    return true;
}

/// Sends a chunk's descriptor. A receiver's queue is short, so each sender also receives. Always bounded like
/// a start, since a PE that failed fetches nothing.
void DeviceMemory::send_chunk(const common::Fd& chunk) {
    int next = 0;
    const auto all_sent = [&] {
        while (auto received = fd_channel_->receive()) arrived_.push_back(std::move(*received));
        for (; next < job_.n_pes; ++next) {
            if (next == me_ || !slot_of(next).is_near()) continue;
            if (!fd_channel_->send(fd_channels_[static_cast<std::size_t>(next)], job_.pe, chunks_, chunk))
                return false;
        }
        return true;
    };
    view_.wait_like_a_start(all_sent);
}

/// Maps the received chunks. All were sent, so they have arrived or are in the queue.
void DeviceMemory::map_chunks(const std::function<void(const common::FdChannel::Received&)>& map) {
    while (auto received = fd_channel_->receive()) arrived_.push_back(std::move(*received));
    std::vector<common::FdChannel::Received> all_received;
    all_received.swap(arrived_);
    int mapped = 1;
    for (const common::FdChannel::Received& received : all_received) {
        if (received.tag != chunks_) continue;  // left from a chunk that failed
        map(received);
        ++mapped;
    }
    const auto expected = static_cast<int>(job_.hosts.members.size());
    if (mapped != expected)
        throw Error(ErrorCode::system, "Descriptors of GPU memory came from " + std::to_string(mapped - 1) +
                                           " of " + std::to_string(expected - 1) + " other PEs.");
}

// ---- registered buffers

void* DeviceMemory::register_buffer(const void* memory, std::size_t bytes, std::uint64_t serial) {
    std::optional<memory::Allocator::Block> view;
    {
        const std::lock_guard lock(mutex_);
        view = views_->allocate(bytes, device_alignment);
    }
    if (!view)
        throw Error(ErrorCode::out_of_memory,
                    "A device heap has room for " + common::bytes_text(views_bytes()) +
                        " of registered buffers a PE; " + common::bytes_text(bytes) + " more were passed.");
    const std::size_t offset = views_offset() + view->offset;
    try {
        // PEs map the parts in step, so they must have the same ones.
        std::vector<std::size_t> sizes;
        settle("register its buffer", common::error_of([&] { sizes = gpu_->memory().parts(memory, bytes); }));
        view_.agree_on_buffer(bytes, sizes.size(), hash_of(sizes));
        const auto* part = static_cast<const char*>(memory);
        std::size_t at = offset;
        for (const std::size_t size : sizes) {
            view_parts_[offset].push_back(at);
            share_part(at, part, size);
            at += size;
            part += size;
        }
    } catch (...) {
        unmap_parts(offset);
        const std::lock_guard lock(mutex_);
        views_->free(view->offset);
        throw;
    }
    const std::lock_guard lock(mutex_);
    serial_of_[offset] = serial;
    offset_of_serial_[serial] = offset;
    return mine() + offset;
}

/// Maps one allocation at `offset` of all slots.
void DeviceMemory::share_part(std::size_t offset, const char* memory, std::size_t bytes) {
    ++chunks_;
    common::Fd descriptor;
    settle("register its buffer",
           common::error_of([&] { descriptor = gpu_->memory().adopt(offset, memory, bytes); }));
    settle("send its buffer's descriptor", common::error_of([&] { send_chunk(descriptor); }));
    settle("map another PE's buffer", common::error_of([&] {
               map_chunks([&](const common::FdChannel::Received& received) {
                   gpu_->memory().map_view(slot_of(received.sender).number(), offset, bytes, received.fd);
               });
           }));
}

void DeviceMemory::unmap_parts(std::size_t offset) noexcept {
    for (const std::size_t part : view_parts_[offset]) gpu_->memory().unmap_view(part);
    view_parts_.erase(offset);
}

DeviceRange DeviceMemory::enclosing(const void* memory, std::size_t bytes) const {
    DeviceRange whole;
    settle("register its buffer", common::error_of([&] { whole = gpu_->memory().enclosing(memory, bytes); }));
    return whole;
}

}  // namespace atl::gpu
