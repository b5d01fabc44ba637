// What every collective checks before it begins.
#pragma once

#include <cstdint>
#include <cstring>

#include "atoll/types.hpp"
#include "collective/state.hpp"

namespace atl::collective {

/// With ATOLL_CHECK=all: throws Error(collective_mismatch) on every PE unless all passed the same.
inline void check_call(State& state, const char* operation, std::uint64_t bytes, int root = -1,
                       std::uint64_t type = ~0ull, std::uint64_t op = ~0ull) {
    if (!state.team().checks_all()) [[likely]]
        return;
    state.team().agree(core::call_record(
        operation, bytes, static_cast<std::uint64_t>(static_cast<std::int64_t>(root)), type, op));
}

/// Throws Error(pe).
inline void check_root(const State& state, int root) {
    if (static_cast<unsigned>(root) >= static_cast<unsigned>(state.n_pes())) [[unlikely]]
        detail::throw_pe(root, state.n_pes());
}

/// Throws Error(shape_mismatch) with what was passed and what was expected.
[[noreturn]] void throw_shape(const char* operation, const char* argument, std::size_t passed,
                              std::size_t expected, const char* unit);
inline void check_size(const char* operation, const char* argument, std::size_t passed, std::size_t expected,
                       const char* unit = "bytes") {
    if (passed != expected) [[unlikely]]
        throw_shape(operation, argument, passed, expected, unit);
}
/// n blocks of `bytes`; saturates, so that what wraps is not taken for something that fits.
inline std::size_t times(std::size_t bytes, int n) {
    std::size_t product = 0;
    return __builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &product) ? SIZE_MAX : product;
}

/// memcpy for sizes that may be 0 with null pointers, and are often 8.
inline void copy_bytes(void* dst, const void* src, std::size_t bytes) {
    if (bytes == 8)
        std::memcpy(dst, src, 8);
    else if (bytes != 0)
        std::memcpy(dst, src, bytes);
}

}  // namespace atl::collective
