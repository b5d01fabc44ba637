// Address space with a chosen alignment.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace atl::common {

/// Largest alignment of a mapping of the symmetric heap. So blocks can be aligned to the largest huge pages.
inline constexpr std::size_t window_alignment = std::size_t{1} << 30;

/// Reserves `bytes` (whole pages) of address space at a multiple of `alignment`, without access. The caller
/// maps over it and unmaps it. Returns null with errno set on failure.
inline char* reserve_aligned(std::size_t bytes, std::size_t alignment) noexcept {
    void* reserved =
        ::mmap(nullptr, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(reserved);
    const std::size_t before = (alignment - reinterpret_cast<std::uintptr_t>(begin) % alignment) % alignment;
    if (before != 0) ::munmap(begin, before);
    if (before != alignment) ::munmap(begin + before + bytes, alignment - before);
    return begin + before;
}

}  // namespace atl::common
