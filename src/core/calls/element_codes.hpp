// Element types as PEs compare them: NumPy's kind and the size, in one number.
#pragma once

#include "atoll/detail/team_operations.hpp"

#include "common/hashes/fnv1a.hpp"

#include <cstdint>
#include <string_view>

namespace atl::core {

/// Encodes an element type: the letter of NumPy's kind ("f", "i", "V"), and its size. 0: unknown. Two kinds
/// have a number of 13 bits in place of a size, which a message's header also holds.
constexpr std::uint64_t elements_of(char kind, std::uint32_t bytes) {
    return std::uint64_t{static_cast<unsigned char>(kind)} << 32 | bytes;
}

/// Elements in 20 bits, for the header of a message. They are left out if their size needs more than 13.
constexpr std::uint32_t packed(const MessageElements& elements) {
    return elements.bytes >> 13 != 0
               ? 0
               : (static_cast<unsigned char>(elements.kind) & 127U) | elements.bytes << 7;
}
constexpr MessageElements unpacked(std::uint32_t word) { return {static_cast<char>(word & 127), word >> 7}; }

/// The unit of a time, of kind 'm' or 'M': NumPy's number of it, and how many of them are one.
struct TimeUnit {
    static constexpr std::uint32_t multiples = 1U << 9;  ///< larger ones are known by their remainder

    std::uint32_t base = 0, multiple = 1;

    constexpr std::uint32_t encoded() const { return base | multiple % multiples << 4; }
    static constexpr TimeUnit from(std::uint32_t encoded) { return {encoded & 15, encoded >> 4}; }
};

/// The kind of structured types, and of types that NumPy does not have.
inline constexpr char record_kind = 'r';
/// In place of the size of such an element. Never 0, which is an unknown size.
constexpr std::uint32_t record_number(std::string_view dtype) {
    return static_cast<std::uint32_t>(common::fnv1a(dtype) % 0x1fff + 1);
}

/// False if both are given and differ. `kind` '\0' compares sizes alone.
constexpr bool are_same(const MessageElements& one, const MessageElements& other) {
    constexpr auto bytes_of = [](const MessageElements& elements) -> std::uint32_t {
        if (elements.kind == 'm' || elements.kind == 'M') return 8;
        return elements.kind == record_kind ? 0 : elements.bytes;
    };
    if (one.bytes == 0 || other.bytes == 0) return true;
    if (one.kind != '\0' && other.kind != '\0') return one.kind == other.kind && one.bytes == other.bytes;
    const std::uint32_t bytes = bytes_of(one), others = bytes_of(other);
    return bytes == 0 || others == 0 || bytes == others;
}

}  // namespace atl::core
