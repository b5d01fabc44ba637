// Streams: from what a caller passes to the C++ objects that enqueue on them.
#pragma once

#include "atoll/stream.hpp"

#include "device.hpp"

namespace atl::python {

/// The operations of `ctx` on a stream; made once for the default context and the stream used last.
const StreamContext& stream_context(const Context& ctx, StreamArg stream);
/// The same for a team's collectives.
const StreamTeam& stream_team(const Team& team, StreamArg stream);

}  // namespace atl::python
