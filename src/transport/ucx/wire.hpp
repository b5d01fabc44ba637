// The messages between PEs.
#pragma once

#include "atoll/types.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::transport::ucx {

enum class Kind : std::uint8_t {
    hello,       ///< data: the sender's address. First message of the PE that made the connection
    put,         ///< data to `offset`
    put_signal,  ///< a put; then the word at `a` is set to `b`, or increased by it (`op`)
    put_blocks,  ///< blocks of `b` bytes, at a stride of `a` bytes
    atomic,      ///< `op` on the word at `offset`, operands `a` and `b`
    fetch,       ///< the same, whose result goes back under `token`
    get,         ///< `a` bytes from `offset`, to go back under `token`
    get_blocks,  ///< `a` bytes in all, in blocks of `b` bytes, at a stride of `c` bytes
    ask_key,     ///< to `a` bytes from `offset`, for UCX's own puts and gets
    show_puts,   ///< once carried out, UCX's own puts into the device heap are visible to every PE
    value,       ///< `a` is the fetched value
    data,        ///< the data of a get, from byte `a` on
    key,         ///< the key for `offset` to `a`, whose address is `b`; empty if `a` is `offset`
    nothing,     ///< only the acknowledgement that all messages carry
    bye,         ///< the sender's job is over; the end of its connections is not a death
};

/// The header of every message. All PEs of a job have one byte order.
struct Header {
    std::uint64_t sequence = 0;  ///< from 1, of all that this PE sent to that one
    std::uint64_t done = 0;  ///< the last of that PE's messages to this one that is carried out and answered
    std::uint64_t offset = 0;
    std::uint64_t a = 0, b = 0, c = 0;
    std::uint64_t token = 0;
    std::uint32_t pe = 0;  ///< the sender
    Kind kind = Kind::nothing;
    AtomicOp op = AtomicOp::fetch;
    DType type = DType::uint64;
    bool is_awaited = true;  ///< the sender needs an acknowledgement of this packet
};
static_assert(sizeof(Header) == 64);

}  // namespace atl::transport::ucx
