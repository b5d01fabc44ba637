// Called: a collective call as compared by its members: the operation, and a fingerprint of the values that
// must be equal.
#pragma once

#include "common/hashes/fnv1a.hpp"
#include "common/recorder/event_types.hpp"

#include <cstdint>

namespace atl::core {

/// Passed to every meeting of a team. Members exchange the fingerprint beside their flag, so the comparison
/// costs no message. The values themselves are read only to report a difference.
class Called {
  public:
    struct Values {
        std::uint64_t a = 0, b = 0, c = 0, d = 0;
    };
    /// Fingerprint that members pass on once a difference was found in a meeting.
    static constexpr std::uint32_t differing = 1;

    /// A call in which only the operation must be equal. A literal, so that its fingerprint is a constant.
    consteval Called(const char* operation)
        : Called(operation, common::operation_number(operation), hash_of(operation), Values{}) {}
    /// A call with numbers that must be equal. `extra` is compared, too, but not shown.
    constexpr Called(Called call, const Values& values, std::uint64_t extra = 0)
        : Called(call.operation_, call.number_, call.hash_ + mixed(values) + extra * 0xd1342543de82ef95,
                 values) {}

    /// A call compared as `call`, with another name in errors.
    static constexpr Called named(const char* operation, Called call, const Values& values) {
        return {operation, common::operation_number(operation), call.hash_, values};
    }

    constexpr const char* operation() const { return operation_; }
    /// Number of the operation in the flight recorder.
    constexpr std::uint16_t number() const { return number_; }
    constexpr const Values& values() const { return values_; }
    /// Even, so that it is never `differing`.
    constexpr std::uint32_t fingerprint() const { return static_cast<std::uint32_t>(hash_ >> 32) & ~1U; }

  private:
    constexpr Called(const char* operation, std::uint16_t number, std::uint64_t hash, const Values& values)
        : operation_(operation), hash_(hash), values_(values), number_(number) {}

    /// The multiplication mixes the low bits into the high ones.
    static constexpr std::uint64_t hash_of(const char* text) {
        return common::fnv1a(text) * 0x9e3779b97f4a7c15;
    }
    /// A sum of independent products: the fingerprint is its upper half.
    static constexpr std::uint64_t mixed(const Values& v) {
        return v.a * 0x9e3779b97f4a7c15 + v.b * 0xbf58476d1ce4e5b9 + v.c * 0x94d049bb133111eb +
               v.d * 0xd6e8feb86659fd93;
    }

    const char* operation_;
    std::uint64_t hash_;
    Values values_;
    std::uint16_t number_;
};

}  // namespace atl::core
