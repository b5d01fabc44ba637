// Element-wise reductions, 16 bytes at a time, of all element types that OpenSHMEM reduces and a GPU
// computes. Halves are computed in float. Units are combined in the given order, so all PEs get the same
// bits.
#pragma once

#include "atoll/device/half.hpp"
#include "atoll/types.hpp"

namespace atl::kernels {

struct alignas(16) Unit {
    unsigned words[4];
};

template <class T> struct Complex { T re, im; };
template <class T> __device__ Complex<T> operator+(Complex<T> a, Complex<T> b) {
    return {a.re + b.re, a.im + b.im};
}
template <class T> __device__ Complex<T> operator*(Complex<T> a, Complex<T> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class T> inline constexpr bool is_complex = false;
template <class T> inline constexpr bool is_complex<Complex<T>> = true;

/// Combines two elements.
template <class W> __device__ W step(ReduceOp op, W a, W b) {
    if constexpr (is_complex<W>) {
        return op == ReduceOp::sum ? a + b : a * b;
    } else {
        switch (op) {
            case ReduceOp::sum:
            case ReduceOp::avg:
                return device::Sum{}(a, b);
            case ReduceOp::prod:
                return device::Prod{}(a, b);
            case ReduceOp::min:
                return device::Min{}(a, b);
            case ReduceOp::max:
                return device::Max{}(a, b);
            default:
                break;
        }
        if constexpr (std::is_integral_v<W>) {
            if (op == ReduceOp::bit_and) return device::And{}(a, b);
            if (op == ReduceOp::bit_or) return device::Or{}(a, b);
            return device::Xor{}(a, b);
        }
        return a;
    }
}

/// A bool; any nonzero byte is true.
struct Boolean {
    unsigned char byte;
    Boolean() = default;
    __device__ explicit Boolean(unsigned v) : byte(v != 0) {}
    __device__ explicit operator unsigned() const { return byte != 0; }
};
}  // namespace atl::kernels

template <> struct atl::device::Wide<atl::kernels::Boolean> { using type = unsigned; };

namespace atl::kernels {

/// The factor and the divisor of a sum of floating-point numbers: elements are multiplied, and the result is
/// divided.
struct Scaling {
    double factor;
    int divisor;
};

/// The part of the scaling that a fold keeps: empty if it does not scale.
template <class W, bool Scaled> struct Factors {
    __device__ void set(const Scaling&) {}
    __device__ W scaled(const W& value) const { return value; }
    __device__ W divided(const W& value) const { return value; }
};
template <class W> struct Factors<W, true> {
    W factor, divisor;
    __device__ void set(const Scaling& by) {
        factor = static_cast<W>(by.factor);
        divisor = static_cast<W>(by.divisor);
    }
    __device__ W scaled(const W& value) const { return value * factor; }
    __device__ W divided(const W& value) const { return value / divisor; }
};

/// Accumulates units given one after another. Scaling is a template argument: most folds do not scale, and do
/// not wait for a multiplication.
template <class T, bool Scaled = false> class Fold : private Factors<typename device::Wide<T>::type, Scaled> {
  public:
    __device__ void scale(const Scaling& by) { this->set(by); }
    __device__ void first(const Unit& unit) {
        const Elements e = elements(unit);
#pragma unroll
        for (int i = 0; i < count; ++i) sum_[i] = this->scaled(static_cast<W>(e.of[i]));
    }
    __device__ void next(ReduceOp op, const Unit& unit) {
        const Elements e = elements(unit);
#pragma unroll
        for (int i = 0; i < count; ++i) sum_[i] = step<W>(op, sum_[i], this->scaled(static_cast<W>(e.of[i])));
    }
    __device__ Unit result() const {
        Elements e;
#pragma unroll
        for (int i = 0; i < count; ++i) e.of[i] = static_cast<T>(this->divided(sum_[i]));
        Unit unit;
        memcpy(&unit, &e, sizeof unit);
        return unit;
    }

  private:
    using W = typename device::Wide<T>::type;
    static constexpr int count = sizeof(Unit) / sizeof(T);
    struct Elements {
        T of[count];
    };
    static __device__ Elements elements(const Unit& unit) {
        Elements e;
        memcpy(&e, &unit, sizeof e);
        return e;
    }
    W sum_[count];
};

/// Calls `body(Fold<T, Scaled>{})` for the types that GPU programs add most, the only ones that are scaled.
template <bool Scaled, class Body> __device__ void with_common_fold(DType type, Body&& body) {
    if (type == DType::float32) return body(Fold<float, Scaled>{});
    if (type == DType::float64) return body(Fold<double, Scaled>{});
    if (type == DType::float16) return body(Fold<__half, Scaled>{});
    if (type == DType::bfloat16) return body(Fold<__nv_bfloat16, Scaled>{});
}

/// Calls `body(Fold<T>{})` for the element type. The host has refused all other types.
template <class Body> __device__ void with_fold(DType type, Body&& body) {
    switch (type) {
        case DType::int8:
            return body(Fold<signed char>{});
        case DType::int16:
            return body(Fold<short>{});
        case DType::int32:
            return body(Fold<int>{});
        case DType::int64:
            return body(Fold<long long>{});
        case DType::uint8:
            return body(Fold<unsigned char>{});
        case DType::uint16:
            return body(Fold<unsigned short>{});
        case DType::uint32:
            return body(Fold<unsigned>{});
        case DType::uint64:
            return body(Fold<unsigned long long>{});
        case DType::float32:
            return body(Fold<float>{});
        case DType::float64:
            return body(Fold<double>{});
        case DType::complex64:
            return body(Fold<Complex<float>>{});
        case DType::complex128:
            return body(Fold<Complex<double>>{});
        case DType::boolean:
            return body(Fold<Boolean>{});
        case DType::float16:
            return body(Fold<__half>{});
        case DType::bfloat16:
            return body(Fold<__nv_bfloat16>{});
        default:
            return;
    }
}

}  // namespace atl::kernels
