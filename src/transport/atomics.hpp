// Atomics: the role of a transport that carries out atomic operations.
#pragma once

#include "atoll/anywhere.hpp"
#include "atoll/types.hpp"
#include "transport/contexts.hpp"

#include <cstdint>

namespace atl::transport {

/// Atomic operations on one element of another PE's heap.
class Atomics {
  public:
    virtual ~Atomics() = default;
    /// The low bytes of `value` and `compare` are the operands; those of the result are the previous value.
    /// Fetching operations return it at once. The others (set, add, bit_and, bit_or, bit_xor) may complete at
    /// quiet and return 0.
    virtual std::uint64_t atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                                 std::uint64_t value, std::uint64_t compare) = 0;
    /// A fetching atomic that stores its result in `result` (of the type's size). The result is there after
    /// quiet.
    virtual void fetch_atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                              std::uint64_t value, std::uint64_t compare, void* result);
};

}  // namespace atl::transport
