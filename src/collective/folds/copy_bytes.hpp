// Copies of small blocks.
#pragma once

#include <cstddef>
#include <cstring>

namespace atl::collective {

/// memcpy for sizes that are often 8, and may be 0 with null pointers.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes) {
    if (bytes == 8)
        std::memcpy(dst, src, 8);
    else if (bytes != 0)
        std::memcpy(dst, src, bytes);
}

}  // namespace atl::collective
