// Cache from a stream argument to the C++ objects that enqueue on the stream.
#pragma once

#include "atoll/stream.hpp"

#include "gpu/device.hpp"

namespace atl::python {

/// The operations of `ctx` on a stream; cached for the default context and the stream used last.
const StreamContext& stream_context(const Context& ctx, StreamArg stream);
/// The same for a team's collectives.
const StreamTeam& stream_team(const Team& team, StreamArg stream);

}  // namespace atl::python
