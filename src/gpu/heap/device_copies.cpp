// Copies between GPU memory and host memory, symmetric or not.
#include "atoll/detail/memory_ops.hpp"
#include "gpu/heap/device_memory.hpp"

#include <algorithm>

namespace atl::gpu {

namespace {

/// Copies up to this size between a GPU and the host heap use a buffer on the stack. So the CPU stores a flag
/// as one word.
constexpr std::size_t bounced_bytes = 64;

}  // namespace

void DeviceCopies::copy(void* dst, const void* src, std::size_t bytes) const {
    auto* to = static_cast<char*>(dst);
    for (const auto* from = static_cast<const char*>(src); bytes != 0;) {
        const std::size_t part = std::min(pinned_.piece(to, bytes), pinned_.piece(from, bytes));
        gpu_.executor().copy(to, from, part);
        to += part;
        from += part;
        bytes -= part;
    }
}

void DeviceCopies::put(void* dst, const void* local, std::size_t bytes, int pe) const {
    copy(device_.at(dst, pe), local, bytes);
}

void DeviceCopies::get(void* local, const void* src, std::size_t bytes, int pe) const {
    copy(local, device_.at(src, pe), bytes);
}

void DeviceCopies::fill(void* dst, unsigned char value, std::size_t bytes) const {
    gpu_.executor().fill(dst, value, bytes);
}

void DeviceCopies::copy_to_host(void* dst, const void* src, std::size_t bytes) const {
    if (bytes > bounced_bytes) return copy(dst, src, bytes);
    alignas(bounced_bytes) char words[bounced_bytes];
    gpu_.executor().copy(words, src, bytes);
    detail::copy(dst, words, bytes);
}

void DeviceCopies::copy_from_host(void* dst, const void* src, std::size_t bytes) const {
    if (bytes > bounced_bytes) return copy(dst, src, bytes);
    alignas(bounced_bytes) char words[bounced_bytes];
    detail::copy(words, src, bytes);
    gpu_.executor().copy(dst, words, bytes);
}

std::uint64_t DeviceCopies::atomic(AtomicOp op, DType type, void* dst, std::uint64_t value,
                                   std::uint64_t compare, int pe) const {
    return gpu_.executor().run_word({device_.at(dst, pe), nullptr, value, compare, op, type});
}

}  // namespace atl::gpu
