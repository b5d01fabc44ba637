// What a wait or test for many words of this PE asks of a stream: what the host passes, and its kernel takes.
#pragma once

#include "atoll/types.hpp"

#include <cstdint>

namespace atl::detail {

enum class Many : unsigned char { all, any, some };

struct ManyWords {
    const void* words = nullptr;
    std::uint64_t n = 0;
    const int* status = nullptr;   ///< words whose entry is not 0 are left out; null: none is
    const void* values = nullptr;  ///< one for each word, of its type; null: `value` for all
    std::uint64_t value = 0;       ///< sign-extended where the type is signed
    std::int64_t* out = nullptr;   ///< for what is found; null for a wait for all
    DType type = DType::uint64;
    Compare compare = Compare::eq;
    Many kind = Many::all;
    bool waits = false;
};

}  // namespace atl::detail
