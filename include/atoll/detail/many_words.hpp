// ManyWords: the arguments of a stream-ordered wait or test for many words, from the host to its kernel.
#pragma once

#include "atoll/types.hpp"

#include <cstdint>

namespace atl::detail {

enum class Many : unsigned char { all, any, some };

struct ManyWords {
    const void* words = nullptr;
    std::uint64_t n = 0;
    const int* status = nullptr;   ///< words whose entry is not 0 are left out; null: all count
    const void* values = nullptr;  ///< one for each word, of its type; null: `value` for all
    std::uint64_t value = 0;       ///< sign-extended where the type is signed
    std::int64_t* out = nullptr;   ///< results; null for a wait for all
    DType type = DType::uint64;
    Compare compare = Compare::eq;
    Many kind = Many::all;
    bool waits = false;
};

}  // namespace atl::detail
