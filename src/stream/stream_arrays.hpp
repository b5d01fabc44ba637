// Arrays outside the device heap in collectives on streams.
#pragma once

#include "stream/stream_team.hpp"

namespace atl::stream {

/// The ordinary ones among this member's arrays: memory that its GPU can access and other PEs cannot.
struct Ordinary {
    bool dst = false, src = false;
};

/// Throws Error: not_symmetric for memory that the GPU cannot access, use_after_free, invalid_argument.
Ordinary check_arrays(const core::TeamState& team, const gpu::DeviceMemory& device, const char* operation,
                      const GroupArguments& arguments);
/// Sends messages of at most `most` bytes through the team's own memory alone, one after another on the
/// stream. Arrays are anywhere that the GPU can access.
void start_in_pieces(const gpu::DeviceMemory& device, const gpu::GroupCall& call, std::uint64_t most,
                     gpu::StreamHandle stream);
/// Like start_collective, for calls with ordinary arrays; `call` is group_call's of the arguments. Throws
/// Error(not_symmetric) for a large message in which other members would have to access one.
void start_ordinary(const core::TeamState& team, const gpu::DeviceMemory& device, const char* operation,
                    const GroupArguments& arguments, gpu::GroupCall call, const Ordinary& ordinary,
                    gpu::StreamHandle stream);

}  // namespace atl::stream
