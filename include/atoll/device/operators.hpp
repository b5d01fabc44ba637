// What reductions combine by: types, named after OpenSHMEM's operations. Any type with the same call operator
// will do. `Wide` says in which type a reduction is evaluated.
#pragma once

#include "atoll/device/team.hpp"

// CUDA's half types, named as its headers name them before they say more: so that reductions of them are in
// float whatever else was included.
struct __half;         // NOLINT(bugprone-reserved-identifier)
struct __nv_bfloat16;  // NOLINT(bugprone-reserved-identifier)

namespace atl::device {
inline namespace ATOLL_DEVICE_WAYS {

namespace detail {
/// What an integer is added and multiplied as: it wraps, as the host's reductions do.
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
/// NaN where one of them is NaN.
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

}  // namespace ATOLL_DEVICE_WAYS
}  // namespace atl::device
