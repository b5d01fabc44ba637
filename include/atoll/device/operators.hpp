// What reductions combine by: types, named after OpenSHMEM's operations. Any type with the same call operator
// will do. `Wide` says in which type a reduction is evaluated (half types: float, atoll/device/half.hpp).
#pragma once

#include "atoll/device/team.hpp"

namespace atl::device {

struct Sum {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
struct Prod {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return static_cast<T>(a * b); }
};
struct Min {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return b < a ? b : a; }
};
struct Max {
    template <class T> ATOLL_ANYWHERE T operator()(T a, T b) const { return a < b ? b : a; }
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

}  // namespace atl::device
