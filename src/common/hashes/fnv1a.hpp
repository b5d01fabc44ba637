// FNV-1a: a hash of text that is the same in every process.
#pragma once

#include <cstdint>
#include <string_view>

namespace atl::common {

constexpr std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace atl::common
