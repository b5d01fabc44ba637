// CallRecord: the arguments of a collective as members compare them.
#pragma once

#include <cstdint>
#include <cstring>

namespace atl::core {

/// The arguments of a collective, compared between members by `agree`.
struct CallRecord {
    char operation[16] = {};
    std::uint64_t a = 0, b = 0, c = 0, d = 0;
};

inline CallRecord call_record(const char* operation, std::uint64_t a = 0, std::uint64_t b = 0,
                              std::uint64_t c = 0, std::uint64_t d = 0) {
    CallRecord record;
    std::strncpy(record.operation, operation, sizeof record.operation - 1);
    record.a = a;
    record.b = b;
    record.c = c;
    record.d = d;
    return record;
}

/// Bits of an allocation's record that describe the requested block.
namespace allocation_bits {
inline constexpr std::uint64_t atomics_remote = 1, signal_remote = 2, device = 4;
}

/// The record of a PE that cannot make the call. It meets the others nevertheless, which then learn of the
/// difference.
inline CallRecord refused_record(const char* operation) {
    return call_record(operation, ~std::uint64_t{0}, ~std::uint64_t{0});
}
inline bool is_refused(const CallRecord& record) {
    return record.a == ~std::uint64_t{0} && record.b == ~std::uint64_t{0};
}

}  // namespace atl::core
