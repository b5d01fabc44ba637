// Dispatch of an atomic: turns an operation and a type given as values into template arguments.
#pragma once

#include "atoll/detail/memory_ops.hpp"
#include "atoll/error.hpp"
#include "atoll/types.hpp"

#include <cstdint>
#include <cstring>
#include <string>

namespace atl::transport {

using atl::is_fetching;

constexpr bool is_bitwise(AtomicOp op) noexcept { return op >= AtomicOp::bit_and; }

/// Calls `body` with a value of the C++ type for `type`. Throws Error(dtype_mismatch) for types without
/// atomics.
template <class Body> std::uint64_t visit_atomic_type(DType type, Body&& body) {
    switch (type) {
        case DType::int32:
            return body(std::int32_t{});
        case DType::int64:
            return body(std::int64_t{});
        case DType::uint32:
            return body(std::uint32_t{});
        case DType::uint64:
            return body(std::uint64_t{});
        case DType::float32:
            return body(float{});
        case DType::float64:
            return body(double{});
        default:
            break;
    }
    throw Error(ErrorCode::dtype_mismatch,
                "Atomics need 32- or 64-bit integers, float or double; this element has " +
                    std::to_string(size_of(type)) + " bytes and is of another kind.");
}

/// Throws Error(dtype_mismatch) unless `op` exists for `type`.
inline void check_atomic(AtomicOp op, DType type) {
    visit_atomic_type(type, [&](auto zero) -> std::uint64_t {
        if (is_bitwise(op) && !std::is_integral_v<decltype(zero)>)
            throw Error(ErrorCode::dtype_mismatch,
                        "Bitwise atomics need integers; this element is a floating-point number.");
        return 0;
    });
}

/// Applies the atomic to `word`, memory that this process can load and store. Operands and result as in
/// Transport::atomic.
inline std::uint64_t apply_atomic(AtomicOp op, DType type, void* word, std::uint64_t value,
                                  std::uint64_t compare) {
    return visit_atomic_type(type, [&](auto zero) {
        using T = decltype(zero);
        T operand, expected;
        std::memcpy(&operand, &value,
                    sizeof(T));  // the low bytes: little-endian, as all of Atoll's platforms
        std::memcpy(&expected, &compare, sizeof(T));
        const T before = detail::atomic_apply(op, static_cast<T*>(word), operand, expected);
        std::uint64_t result = 0;
        std::memcpy(&result, &before, sizeof(T));
        return result;
    });
}

}  // namespace atl::transport
