#include "collective/folds/halves.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace atl::collective {

namespace {

constexpr std::uint32_t float_infinity = 0x7f800000;
constexpr std::uint16_t nan_bits = 0x7fff;
constexpr std::uint32_t exponents_apart = 112;  ///< exponent of 1 as float (127) minus that as float16 (15)
constexpr int least_float16_exponent = -24;     ///< exponent of the smallest float16 that is not 0

float wide_float16(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
    if (exponent == 0) {
        const float size = std::ldexp(static_cast<float>(fraction), least_float16_exponent);
        return sign != 0 ? -size : size;
    }
    if (exponent == 31) return std::bit_cast<float>(sign | float_infinity | fraction << 13);
    return std::bit_cast<float>(sign | (exponent + exponents_apart) << 23 | fraction << 13);
}

std::uint16_t narrow_float16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t size = bits & 0x7fffffffu;
    if (size > float_infinity) return nan_bits;
    std::uint32_t half = 0;
    if (size >= std::bit_cast<std::uint32_t>(65520.0f))
        half = 0x7c00;
    else if (size < std::bit_cast<std::uint32_t>(0x1p-14f))
        half = static_cast<std::uint32_t>(
            std::nearbyint(std::ldexp(std::bit_cast<float>(size), -least_float16_exponent)));
    else
        half = (size - (exponents_apart << 23) + 0xfffu + (size >> 13 & 1u)) >> 13;
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000u) | half);
}

float wide_bfloat16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t narrow_bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > float_infinity) return nan_bits;
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/// Converts the elements in ascending order, because dst and src may share bytes.
template <auto convert, class From> void convert_all(void* dst, const void* src, std::size_t count) {
    using To = decltype(convert(From{}));
    for (std::size_t i = 0; i < count; ++i) {
        From from;
        std::memcpy(&from, static_cast<const char*>(src) + i * sizeof from, sizeof from);
        const To to = convert(from);
        std::memcpy(static_cast<char*>(dst) + i * sizeof to, &to, sizeof to);
    }
}

}  // namespace

void widen(void* dst, const void* src, std::size_t count, DType type) {
    if (type == DType::float16)
        convert_all<wide_float16, std::uint16_t>(dst, src, count);
    else
        convert_all<wide_bfloat16, std::uint16_t>(dst, src, count);
}

void narrow(void* dst, const void* src, std::size_t count, DType type) {
    if (type == DType::float16)
        convert_all<narrow_float16, float>(dst, src, count);
    else
        convert_all<narrow_bfloat16, float>(dst, src, count);
}

}  // namespace atl::collective
