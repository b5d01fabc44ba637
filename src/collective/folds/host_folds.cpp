#include "collective/folds/host_folds.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "atoll/error.hpp"
#include "collective/folds/halves.hpp"
#include "core/calls/call_text.hpp"

namespace atl::collective {
namespace {

// Sums and products of integers wrap. They are computed in an unsigned type of at least int's width, since
// narrower ones would be promoted to int, where overflow is undefined. Signed and unsigned share these loops.
template <class T> using Wrapping = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, T>;

struct Complex {
    template <class T> struct Of { T re, im; };
};
using Complex64 = Complex::Of<float>;
using Complex128 = Complex::Of<double>;

struct Sum {
    template <class T> static T apply(T a, T b) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
        else if constexpr (std::is_floating_point_v<T>)
            return a + b;
        else
            return {a.re + b.re, a.im + b.im};
    }
};
struct Prod {
    template <class T> static T apply(T a, T b) {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
        else if constexpr (std::is_floating_point_v<T>)
            return a * b;
        // Written out, because the operator of std::complex handles infinities and does not vectorise.
        else
            return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
};
// The result is NaN if any operand is.
struct Min {
    template <class T> static T apply(T a, T b) { return b < a || b != b ? b : a; }
};
struct Max {
    template <class T> static T apply(T a, T b) { return a < b || b != b ? b : a; }
};
struct And {
    template <class T> static T apply(T a, T b) { return static_cast<T>(a & b); }
};
struct Or {
    template <class T> static T apply(T a, T b) { return static_cast<T>(a | b); }
};
struct Xor {
    template <class T> static T apply(T a, T b) { return static_cast<T>(a ^ b); }
};
/// A bool: any nonzero byte is true, and the result is 0 or 1.
template <class Op> struct Logical {
    static std::uint8_t apply(std::uint8_t a, std::uint8_t b) {
        return Op::apply(static_cast<std::uint8_t>(a != 0), static_cast<std::uint8_t>(b != 0));
    }
};

template <class T, class Op> void fold(void* dst, const void* a, const void* b, std::size_t count) {
    auto* to = static_cast<T*>(dst);
    const auto* left = static_cast<const T*>(a);
    const auto* right = static_cast<const T*>(b);
    // dst may be a or b. The compiler cannot distinguish that at run time from harmful overlap.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
    for (std::size_t i = 0; i < count; ++i) to[i] = Op::apply(left[i], right[i]);
}

using Row = std::array<Fold, reduce_op_count>;  // in the order of ReduceOp

template <class T> constexpr Row integer() {
    using U = std::make_unsigned_t<T>;
    return {fold<U, Sum>, fold<U, Prod>, fold<T, Min>, fold<T, Max>, fold<U, And>, fold<U, Or>, fold<U, Xor>};
}
template <class T> constexpr Row real() {
    return {fold<T, Sum>, fold<T, Prod>, fold<T, Min>, fold<T, Max>, nullptr, nullptr, nullptr};
}
template <class T> constexpr Row complex() {
    return {fold<T, Sum>, fold<T, Prod>, nullptr, nullptr, nullptr, nullptr, nullptr};
}
constexpr Row boolean() {
    using T = std::uint8_t;
    return {nullptr,
            nullptr,
            nullptr,
            nullptr,
            fold<T, Logical<And>>,
            fold<T, Logical<Or>>,
            fold<T, Logical<Xor>>};
}

constexpr std::array<Row, dtype_count> folds_by_type = {
    // in the order of DType
    integer<std::int8_t>(),
    integer<std::int16_t>(),
    integer<std::int32_t>(),
    integer<std::int64_t>(),
    integer<std::uint8_t>(),
    integer<std::uint16_t>(),
    integer<std::uint32_t>(),
    integer<std::uint64_t>(),
    real<float>(),
    real<double>(),
    real<long double>(),
    complex<Complex64>(),
    complex<Complex128>(),
    boolean(),
    real<float>(),  // for widened halves
    real<float>(),
};

[[noreturn]] void refuse(DType type, ReduceOp op) {
    std::string takes;
    for (std::size_t t = 0; t < folds_by_type.size(); ++t)
        if (folds_by_type[t][static_cast<std::size_t>(op)])
            takes += (takes.empty() ? "" : ", ") + core::text_of(static_cast<DType>(t));
    throw Error(ErrorCode::dtype_mismatch, core::text_of(op) + " of " + core::text_of(type) +
                                               " is not defined; " + core::text_of(op) + " takes " + takes +
                                               ".");
}

}  // namespace

Kernel kernel_for(DType type, ReduceOp op) {
    const auto t = static_cast<std::size_t>(type);
    const auto o = static_cast<std::size_t>(op);
    if (t >= folds_by_type.size() || o >= folds_by_type[0].size())
        throw Error(ErrorCode::invalid_argument, "There is no reduction operator " + std::to_string(o) +
                                                     " or no element type " + std::to_string(t) + ".");
    if (!folds_by_type[t][o]) refuse(type, op);
    Kernel kernel{folds_by_type[t][o], size_of(type)};
    if (is_half(type)) kernel.half = type;
    return kernel;
}

void Kernel::widen(float* to, const void* from, std::size_t count) const {
    collective::widen(to, from, count, half);
    if (factor == 1) return;
    for (std::size_t i = 0; i < count; ++i) to[i] *= factor;
}

void Kernel::narrow(void* to, float* folded, std::size_t count, int n) const {
    if (averages)
        for (std::size_t i = 0; i < count; ++i) folded[i] /= static_cast<float>(n);
    collective::narrow(to, folded, count, half);
}

}  // namespace atl::collective
