#include "collective/requests/folding.hpp"

#include "atoll/error.hpp"
#include "collective/folds/halves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace atl::requests {
namespace {

/// Layout of an 8-bit type. e4m3 (fn) has no infinity: its largest code is NaN.
struct Format {
    int mantissa_bits;
    int bias;
    bool has_infinity;
};
constexpr Format e4m3{3, 7, false};
constexpr Format e5m2{2, 15, true};

float value_of(std::uint8_t code, Format format) {
    const int exponent_bits = 7 - format.mantissa_bits;
    const int exponent = code >> format.mantissa_bits & ((1 << exponent_bits) - 1);
    const int fraction = code & ((1 << format.mantissa_bits) - 1);
    const bool top = exponent == (1 << exponent_bits) - 1;
    float size = 0;
    if (top && format.has_infinity)
        size =
            fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    else if (top && fraction == (1 << format.mantissa_bits) - 1)
        size = std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
        size = std::ldexp(static_cast<float>(fraction), 1 - format.bias - format.mantissa_bits);
    else
        size = std::ldexp(static_cast<float>(fraction + (1 << format.mantissa_bits)),
                          exponent - format.bias - format.mantissa_bits);
    return (code & 0x80) != 0 ? -size : size;
}

/// Rounds to nearest, ties to even, as PyTorch does: too large values become NaN (e4m3) or infinity (e5m2).
std::uint8_t code_of(float value, Format format) {
    const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
    const int most_exponent = (1 << (7 - format.mantissa_bits)) - 1;
    const auto nan = static_cast<std::uint8_t>(sign | 0x7f);
    const auto beyond =
        static_cast<std::uint8_t>(format.has_infinity ? sign | most_exponent << format.mantissa_bits : nan);
    if (std::isnan(value)) return nan;
    const float size = std::fabs(value);
    if (std::isinf(size)) return beyond;
    if (size == 0) return sign;
    const int exponent = std::max(std::ilogb(size), 1 - format.bias);
    const float steps = std::nearbyint(std::ldexp(size, format.mantissa_bits - exponent));
    // Steps of the first binade include subnormal numbers; a carry moves to the next one by itself.
    const int code = static_cast<int>(steps) + ((exponent + format.bias - 1) << format.mantissa_bits);
    const int largest = format.has_infinity ? (most_exponent << format.mantissa_bits) - 1 : 0x7e;
    return code > largest ? beyond : static_cast<std::uint8_t>(sign | code);
}

using Values = std::array<float, 256>;
Values table_of(Format format) {
    Values values;
    for (int code = 0; code < 256; ++code)
        values[static_cast<std::size_t>(code)] = value_of(static_cast<std::uint8_t>(code), format);
    return values;
}

const Values& values_of(int type) {
    static const Values of_e4m3 = table_of(e4m3), of_e5m2 = table_of(e5m2);
    return type == float8_e4m3 ? of_e4m3 : of_e5m2;
}

bool is_eight_bit(int type) { return type == float8_e4m3 || type == float8_e5m2; }

[[noreturn]] void refuse_bits(const char* op) {
    throw Error(ErrorCode::dtype_mismatch,
                std::string(op) +
                    " of a floating-point type of 16 or 8 bits is not defined; these types take "
                    "sum, product, min, max and average.");
}

/// The floating-point type by which the elements of an average are divided. Throws Error(dtype_mismatch).
DType real_of(DType type) {
    switch (type) {
        case DType::float32:
        case DType::float64:
        case DType::long_double:
        case DType::float16:
        case DType::bfloat16:
            return type;
        case DType::complex64:
            return DType::float32;
        case DType::complex128:
            return DType::float64;
        default:
            throw Error(ErrorCode::dtype_mismatch,
                        "An average of integers is not defined; sum them and divide, or convert them to a "
                        "floating-point type.");
    }
}

ReduceOp folded(ReduceOp op) { return op == ReduceOp::avg ? ReduceOp::sum : op; }

}  // namespace

Folding::Folding(int type, ReduceOp op) : type_(type), average_(op == ReduceOp::avg) {
    if (type < 0 || type > float8_e5m2)
        throw Error(ErrorCode::dtype_mismatch, "There is no element type " + std::to_string(type) + ".");
    eight_bit_ = is_eight_bit(type);
    const DType real = eight_bit_ ? DType::float32 : static_cast<DType>(type);
    if ((eight_bit_ || collective::is_half(real)) && op >= ReduceOp::bit_and && op <= ReduceOp::bit_xor)
        refuse_bits("A bitwise reduction");
    element_bytes_ = eight_bit_ ? 1 : size_of(real);
    kernel_ = collective::kernel_for(real, folded(op));
    kernel_.averages = average_ && kernel_.widens();
    if (average_) real_ = real_of(real);
}

void Folding::widen(float* to, const char* from, std::size_t count) const {
    const Values& values = values_of(type_);
    for (std::size_t i = 0; i < count; ++i) to[i] = values[static_cast<std::uint8_t>(from[i])];
}

void Folding::narrow(char* to, const float* from, std::size_t count) const {
    const Format format = type_ == float8_e4m3 ? e4m3 : e5m2;
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<char>(code_of(from[i], format));
}

}  // namespace atl::requests
