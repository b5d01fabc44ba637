// Words of the type that a call names.
#pragma once

#include "atoll/types.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace atl::simulated {

template <class F> void visit_word(DType type, F&& f) {
    switch (type) {
        case DType::int8:
            return f(std::int8_t{});
        case DType::int16:
            return f(std::int16_t{});
        case DType::int32:
            return f(std::int32_t{});
        case DType::int64:
            return f(std::int64_t{});
        case DType::uint8:
            return f(std::uint8_t{});
        case DType::uint16:
            return f(std::uint16_t{});
        case DType::uint32:
            return f(std::uint32_t{});
        case DType::uint64:
            return f(std::uint64_t{});
        case DType::float32:
            return f(float{});
        case DType::float64:
            return f(double{});
        default:
            throw std::runtime_error("the simulated GPU does not know this type");
    }
}

template <class T> T value_of(std::uint64_t word) {
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

}  // namespace atl::simulated
