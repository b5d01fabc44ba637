// Names of operators and operations, as errors, reports and traces print them. An enumeration has one list.
#pragma once

#include "atoll/anywhere.hpp"
#include "atoll/device/operation.hpp"
#include "atoll/types.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace atl::common {

/// Operators of reductions, by ReduceOp.
inline constexpr std::string_view reduce_op_names[] = {"sum", "prod", "min", "max",
                                                       "and", "or",   "xor", "avg"};
static_assert(std::size(reduce_op_names) == reduce_op_count, "a name for each ReduceOp");
static_assert(reduce_op_names[static_cast<int>(ReduceOp::bit_and)] == "and", "in the order of ReduceOp");
static_assert(reduce_op_names[static_cast<int>(ReduceOp::avg)] == "avg", "in the order of ReduceOp");

/// Texts of device::Operation.
inline constexpr const char* device_operation_names[] = {
#define ATOLL_TEXT(name, text) text,
    ATOLL_DEVICE_OPERATIONS(ATOLL_TEXT)
#undef ATOLL_TEXT
};

/// Name of an operation by its number, which a kernel wrote: it may be any.
constexpr const char* device_operation_name(std::uint32_t number) {
    return device_operation_names[number < std::size(device_operation_names) ? number : 0];
}

/// Name of an atomic operation: that of the same operation in kernels.
constexpr const char* atomic_name(AtomicOp op) {
    return device_operation_names[static_cast<std::size_t>(device::Operation::atomic_fetch) +
                                  static_cast<std::size_t>(op)];
}
static_assert(atomic_name(AtomicOp::fetch) == std::string_view("atomic_fetch"), "in the order of AtomicOp");
static_assert(atomic_name(AtomicOp::bit_xor) == std::string_view("atomic_xor"), "in the order of AtomicOp");
static_assert(atomic_name(AtomicOp::fetch_xor) == std::string_view("atomic_fetch_xor"),
              "in the order of AtomicOp");

}  // namespace atl::common
