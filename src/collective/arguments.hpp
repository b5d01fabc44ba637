// Checks that every collective makes before it begins.
#pragma once

#include <cstdint>
#include <cstring>

#include "atoll/types.hpp"
#include "collective/folds/copy_bytes.hpp"
#include "collective/state.hpp"

namespace atl::collective {

/// The arguments that all members of a call pass equally, in the order of core/calls/call_text.cpp.
struct AgreedArguments {
    std::uint64_t bytes = 0;
    int root = -1;
    std::uint64_t c = 0, d = 0;
    std::uint64_t more = 0;  ///< compared between members, but not shown in errors

    core::Called call(const core::Called& operation) const {
        return {operation, {bytes, static_cast<std::uint64_t>(static_cast<std::int64_t>(root)), c, d}, more};
    }
};

/// Describes the call, which members compare when they meet. With ATOLL_CHECK=all they first compare
/// `in_full`, which also holds arguments that otherwise only the root uses.
inline core::Called check_call(State& state, const core::Called& operation, const AgreedArguments& agreed,
                               const AgreedArguments& in_full) {
    if (state.team().meetings().checks_all()) [[unlikely]] {
        const core::Called full = in_full.call(operation);
        const auto& [a, b, c, d] = full.values();
        state.team().agree(core::call_record(operation.operation(), a, b, c, d));
    }
    const core::Called call = agreed.call(operation);
    state.team().meetings().recorded.set_arguments(call);
    return call;
}
inline core::Called check_call(State& state, const core::Called& operation, const AgreedArguments& agreed) {
    return check_call(state, operation, agreed, agreed);
}

/// Throws Error(pe).
inline void check_root(int n_pes, int root) {
    if (static_cast<unsigned>(root) >= static_cast<unsigned>(n_pes)) [[unlikely]]
        detail::throw_pe(root, n_pes);
}
inline void check_root(const State& state, int root) { check_root(state.n_pes(), root); }

/// Throws Error(shape_mismatch) with the passed and the expected size.
[[noreturn]] void throw_shape(const char* operation, const char* argument, std::size_t passed,
                              std::size_t expected, const char* unit);
inline void check_size(const char* operation, const char* argument, std::size_t passed, std::size_t expected,
                       const char* unit = "bytes") {
    if (passed != expected) [[unlikely]]
        throw_shape(operation, argument, passed, expected, unit);
}
/// Throws Error(collective_mismatch): two members passed different sizes, or are in different calls. One
/// member's sizes must not lead another past the end of an array.
[[noreturn]] void throw_sizes(const State& state, const char* operation, int member, std::size_t theirs,
                              std::size_t mine);
[[noreturn]] void throw_other_call(const State& state, const char* operation, int member);
/// Throws Error(out_of_memory).
[[noreturn]] void throw_no_room(const State& state, const char* operation, int member);
/// Throws Error(invalid_argument) for a null pointer to `bytes`, unless ATOLL_CHECK is `none`. Only for
/// arrays that this PE's own part of the call reads or writes.
[[noreturn]] void throw_null(const char* operation, const char* argument, std::size_t bytes);
inline void check_given(const core::JobState& job, const char* operation, const char* argument,
                        const void* pointer, std::size_t bytes) {
    if (pointer == nullptr && bytes != 0 && job.window().check) [[unlikely]]
        throw_null(operation, argument, bytes);
}
inline void check_given(const State& state, const char* operation, const char* argument, const void* pointer,
                        std::size_t bytes) {
    check_given(state.job(), operation, argument, pointer, bytes);
}
inline void check_given(const State& state, const char* operation, const void* dst, std::size_t dst_bytes,
                        const void* src, std::size_t src_bytes) {
    check_given(state, operation, "dst", dst, dst_bytes);
    check_given(state, operation, "src", src, src_bytes);
}
/// The size of n blocks of `bytes`. Saturates, so that an overflow is not taken for a small size.
inline std::size_t times(std::size_t bytes, int n) {
    std::size_t product = 0;
    return __builtin_mul_overflow(bytes, static_cast<std::size_t>(n), &product) ? SIZE_MAX : product;
}

/// Checks a scan: exclusive ones support sums only, and none supports averages. Throws
/// Error(invalid_argument).
void check_scan(ReduceOp op, bool inclusive);

}  // namespace atl::collective
