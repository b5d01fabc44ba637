// Reaching PEs outside the window: bytes, offsets and (operation, type). About eight virtual functions,
// whatever the number of names above. A context's operations to one PE may be delivered in any order until
// `fence` or `quiet`.
#pragma once

#include "atoll/types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace atl::transport {

using ContextId = std::uint32_t;  ///< 0 is the default context

enum class Completion : std::uint8_t {
    local,     ///< put: the source may be reused on return; get: the data are there on return
    at_quiet,  ///< source and destination belong to the transport until quiet of this context
};

class Transport {
  public:
    virtual ~Transport() = default;
    virtual std::string_view name() const = 0;
    virtual bool reaches(int pe) const = 0;

    virtual ContextId create_context() = 0;
    /// Implies quiet of that context.
    virtual void destroy_context(ContextId context) = 0;

    /// `offset` is from the start of `pe`'s heap; ranges were checked above. `bytes` > 0.
    virtual void put(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
                     Completion) = 0;
    virtual void get(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
                     Completion) = 0;
    /// The low bytes of `value` and `compare` are the operands, of the result the value before. Fetching ones
    /// return it at once; the others (set, add, bit_and, bit_or, bit_xor) may complete at quiet and return 0.
    virtual std::uint64_t atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                                 std::uint64_t value, std::uint64_t compare) = 0;
    /// Puts and atomics of this context to `pe` (-1: each PE for itself) before it are delivered before those
    /// after it.
    virtual void fence(ContextId context, int pe) = 0;
    /// All operations of this context to `pe` (-1: all) are complete and visible to everybody.
    virtual void quiet(ContextId context, int pe) = 0;
    /// Called by whoever waits; must be cheap when there is nothing to do.
    virtual void progress() = 0;
};

}  // namespace atl::transport
