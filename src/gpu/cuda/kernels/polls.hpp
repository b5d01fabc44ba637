// Loads of words of any integer type for the library's kernels: as 64 bits, sign-extended if signed.
#pragma once

#include "atoll/device/words.hpp"
#include "atoll/types.hpp"

#include <cstdint>

namespace atl::kernels {

/// Narrow words are loaded with the 4 bytes around them, which are as old or newer.
ATOLL_ANYWHERE inline std::uint64_t poll(const void* word, DType type) {
    const auto address = reinterpret_cast<unsigned long long>(word);
    if (type == DType::int64 || type == DType::uint64)
        return device::load_acquire(static_cast<const unsigned long long*>(word));
    const unsigned around = device::load_acquire(reinterpret_cast<const unsigned*>(address / 4 * 4));
    const unsigned part = around >> (address % 4 * 8);
    switch (type) {
        case DType::int8:
            return static_cast<std::uint64_t>(static_cast<signed char>(part));
        case DType::uint8:
            return static_cast<unsigned char>(part);
        case DType::int16:
            return static_cast<std::uint64_t>(static_cast<short>(part));
        case DType::uint16:
            return static_cast<unsigned short>(part);
        case DType::int32:
            return static_cast<std::uint64_t>(static_cast<int>(part));
        default:
            return part;
    }
}

ATOLL_ANYWHERE inline bool is_signed(DType type) {
    return type == DType::int8 || type == DType::int16 || type == DType::int32 || type == DType::int64;
}

ATOLL_ANYWHERE inline bool holds(std::uint64_t found, Compare cmp, std::uint64_t expected, DType type) {
    return is_signed(type)
               ? detail::compare(static_cast<std::int64_t>(found), cmp, static_cast<std::int64_t>(expected))
               : detail::compare(found, cmp, expected);
}

}  // namespace atl::kernels
