// Element types as PEs compare them: NumPy's kind and the size, in one number.
#pragma once

#include "atoll/detail/team_operations.hpp"

#include "common/hashes/fnv1a.hpp"

#include <cstdint>
#include <string_view>

namespace atl::core {

/// Encodes an element type: the letter of NumPy's kind ("f", "i", "V"), and its size. 0: unknown. Times have
/// their unit in place of the size, and structured types a number of 13 bits.
constexpr std::uint64_t elements_of(char kind, std::uint32_t bytes) {
    return std::uint64_t{static_cast<unsigned char>(kind)} << 32 | bytes;
}

constexpr std::uint64_t elements_of(const MessageElements& elements) {
    return elements_of(elements.kind, elements.bytes);
}

constexpr bool is_time(char kind) { return kind == 'm' || kind == 'M'; }

/// The unit of a time, of kind 'm' or 'M': NumPy's number of it, and how many of them are one.
struct TimeUnit {
    std::uint32_t base = 0, multiple = 1;

    constexpr std::uint32_t encoded() const { return base | multiple << 4; }
    static constexpr TimeUnit from(std::uint32_t encoded) { return {encoded & 15, encoded >> 4}; }
};

/// The kind of structured types, and of types that NumPy does not have.
inline constexpr char record_kind = 'r';
/// In place of the size of such an element. Never 0, which is an unknown size.
constexpr std::uint32_t record_number(std::string_view dtype) {
    return static_cast<std::uint32_t>(common::fnv1a(dtype) % 0x1fff + 1);
}

/// Elements in 20 bits, for the header of a message. It leaves out sizes of more than 13 bits, and multiples
/// of a unit of more than 9.
constexpr std::uint32_t packed(const MessageElements& elements) {
    std::uint32_t bytes = elements.bytes;
    if (bytes >> 13 != 0) {
        if (!is_time(elements.kind)) return 0;
        bytes = TimeUnit{TimeUnit::from(bytes).base, 0}.encoded();
    }
    return (static_cast<unsigned char>(elements.kind) & 127U) | bytes << 7;
}
constexpr MessageElements unpacked(std::uint32_t word) { return {static_cast<char>(word & 127), word >> 7}; }

/// False if both are given and differ, as far as a header has them. `kind` '\0' compares sizes alone.
constexpr bool are_same(const MessageElements& one, const MessageElements& other) {
    const std::uint32_t word = packed(one), others = packed(other);
    const MessageElements a = unpacked(word), b = unpacked(others);
    if (word == others || word == 0 || others == 0) return true;
    if (a.kind != '\0' && b.kind != '\0') return false;
    constexpr auto bytes_of = [](const MessageElements& elements) -> std::uint32_t {
        if (is_time(elements.kind)) return 8;
        return elements.kind == record_kind ? 0 : elements.bytes;
    };
    return bytes_of(a) == 0 || bytes_of(b) == 0 || bytes_of(a) == bytes_of(b);
}

}  // namespace atl::core
