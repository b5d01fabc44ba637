// Copies between GPU memory and host memory, symmetric or not, and the test for the kind of an address.
#include "atoll/detail/memory_ops.hpp"
#include "common/text.hpp"
#include "gpu/heap/device_memory.hpp"

#include <algorithm>

namespace atl::gpu {

namespace {

/// Copies up to this size between a GPU and the host heap use a buffer on the stack. So the CPU stores a flag
/// as one word.
constexpr std::size_t bounced_bytes = 64;

}  // namespace

void DeviceMemory::copy(void* dst, const void* src, std::size_t bytes) const {
    auto* to = static_cast<char*>(dst);
    for (const auto* from = static_cast<const char*>(src); bytes != 0;) {
        const std::size_t part = std::min(pinned_->piece(to, bytes), pinned_->piece(from, bytes));
        gpu_->executor().copy(to, from, part);
        to += part;
        from += part;
        bytes -= part;
    }
}

void* DeviceMemory::at(const void* local, int pe) const noexcept {
    const int slot = slot_of(pe);
    return slot < 0 ? nullptr : window_.slot(slot) + offset_of(local);
}

void DeviceMemory::put(void* dst, const void* local, std::size_t bytes, int pe) const {
    copy(at(dst, pe), local, bytes);
}

void DeviceMemory::get(void* local, const void* src, std::size_t bytes, int pe) const {
    copy(local, at(src, pe), bytes);
}

void DeviceMemory::fill(void* dst, unsigned char value, std::size_t bytes) const {
    gpu_->executor().fill(dst, value, bytes);
}

bool DeviceMemory::is_on_gpu(const void* address) const {
    if (in_window(address)) return true;
    if (!address || pinned_->has(address) || host_.surely_has(address)) return false;
    return gpu_->pinning().is_on_gpu(address);
}

bool DeviceMemory::reaches(const void* address, std::size_t bytes) const {
    return pinned_->has(address) ? pinned_->covers(address, bytes) : gpu_->pinning().reaches(address);
}

void DeviceMemory::copy_to_host(void* dst, const void* src, std::size_t bytes) const {
    if (bytes > bounced_bytes) return copy(dst, src, bytes);
    alignas(bounced_bytes) char words[bounced_bytes];
    gpu_->executor().copy(words, src, bytes);
    detail::copy(dst, words, bytes);
}

void DeviceMemory::copy_from_host(void* dst, const void* src, std::size_t bytes) const {
    if (bytes > bounced_bytes) return copy(dst, src, bytes);
    alignas(bounced_bytes) char words[bounced_bytes];
    detail::copy(words, src, bytes);
    gpu_->executor().copy(dst, words, bytes);
}

void DeviceMemory::check_pinned(const void* address, std::size_t bytes) const {
    if (pinned_->has(address) && !pinned_->covers(address, bytes))
        throw Error(ErrorCode::invalid_argument,
                    common::bytes_text(bytes) + " at " + common::address_text(address) +
                        " are in the host heap and not pinned, so no kernel reaches them. Pin the block "
                        "first (Job::pin, atoll.pin), while no kernel waits.");
}

}  // namespace atl::gpu
