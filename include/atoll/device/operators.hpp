// Reduction operators: types, named after OpenSHMEM's operations. Any type with the same call operator works.
// `Wide` gives the type in which a reduction is evaluated.
#pragma once

#include "atoll/device/team.hpp"

// CUDA's half types, declared as in CUDA's headers. So reductions of them are in float, whichever headers
// were included.
struct __half;         // NOLINT(bugprone-reserved-identifier)
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier)

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {
/// The type in which integers are added and multiplied: they wrap, as in the host's reductions.
template <class T> struct Wrapping { using type = T; };
template <> struct Wrapping<short> { using type = unsigned; };
template <> struct Wrapping<unsigned short> { using type = unsigned; };
template <> struct Wrapping<int> { using type = unsigned; };
template <> struct Wrapping<long> { using type = unsigned long; };
template <> struct Wrapping<long long> { using type = unsigned long long; };
}  // namespace detail

struct Sum {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const {
        using W = typename detail::Wrapping<T>::type;
        return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
    }
};
struct Prod {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const {
        using W = typename detail::Wrapping<T>::type;
        return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
    }
};
/// NaN if either operand is NaN.
struct Min {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return b < a || b != b ? b : a; }
};
struct Max {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return a < b || b != b ? b : a; }
};
struct And {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
struct Or {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
struct Xor {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

template <class T> struct Wide { using type = T; };
template <> struct Wide<__half> { using type = float; };
template <> struct Wide<__nv_bfloat16> { using type = float; };

namespace detail {
/// Converts an element to its wide type and back. Those of half types are in half.hpp, for programs that
/// switch CUDA's conversions off, as PyTorch's extensions do.
template <class T> struct Conversion {
    using W = typename Wide<T>::type;
    static ATOLL_ANYWHERE W widen(T value) { return static_cast<W>(value); }
    static ATOLL_ANYWHERE T narrow(W value) { return static_cast<T>(value); }
};
}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
