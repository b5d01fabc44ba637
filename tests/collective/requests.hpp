// Values and calls of groups' tests.
#pragma once

#include "collective/requests/call.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace atl::requests {

/// A part of a vector of 4-byte numbers, all by default.
template <class Values>
Span span_of(Values& values, std::size_t from = 0, std::size_t count = ~std::size_t{0}) {
    return {reinterpret_cast<char*>(values.data() + from), 4 * std::min(count, values.size() - from)};
}
template <class Values> Values values_of(int rank, std::size_t count) {
    Values values(count);
    std::iota(values.begin(), values.end(), rank * 1000);
    return values;
}
inline Call call_of(Kind kind, int root = 0) {
    Call call;
    call.kind = kind;
    call.root = root;
    call.type = static_cast<int>(DType::int32);
    return call;
}

}  // namespace atl::requests
