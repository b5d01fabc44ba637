// Movement: the role of a transport that moves bytes.
#pragma once

#include "atoll/types.hpp"
#include "transport/contexts.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::transport {

enum class Completion : std::uint8_t {
    local,        ///< put: the source may be reused on return; get: the data are there on return
    at_quiet,     ///< source and destination belong to the transport until quiet of this context
    unconfirmed,  ///< put: like `local`, but unacknowledged; quiet does not wait for it. For flags whose
                  ///< arrival this PE learns by other means. It is ordered after the fences before it. Large
                  ///< puts behind a later fence may overtake it. It is complete once a later empty put with
                  ///< acknowledgement is
};

/// The signal of a put: a word of uint64 in the same PE's memory, which is set or added to.
struct Signal {
    std::uint64_t offset = 0;
    std::uint64_t value = 0;
    SignalOp op = SignalOp::set;
};

/// A strided range: `n_blocks` blocks of `block_bytes`, each begins a stride after the one before.
struct Blocks {
    std::size_t block_bytes = 0;
    std::size_t n_blocks = 0;
    std::size_t remote_stride = 0;
    std::size_t local_stride = 0;
};

/// Puts and gets of bytes at offsets of another PE's heap.
class Movement {
  public:
    virtual ~Movement() = default;
    /// `offset` counts from the start of `pe`'s heap; the caller has checked the range. `bytes` > 0, except
    /// for a put of no data that only completes earlier ones (Completion::unconfirmed).
    virtual void put(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
                     Completion) = 0;
    virtual void get(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
                     Completion) = 0;
    /// A put (0 bytes are allowed), then the signal. A PE that sees the signal sees the data.
    virtual void put_signal(ContextId context, int pe, std::uint64_t offset, const void* src,
                            std::size_t bytes, const Signal& signal, Completion) = 0;
    /// Strided puts and gets, which complete like Completion::local.
    virtual void put_blocks(ContextId context, int pe, std::uint64_t offset, const void* src, const Blocks&);
    virtual void get_blocks(ContextId context, int pe, std::uint64_t offset, void* dst, const Blocks&);
};

}  // namespace atl::transport
