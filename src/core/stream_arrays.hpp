// Arrays of a collective on a stream that stand outside the device heap.
#pragma once

#include "core/stream_team.hpp"

namespace atl::core {

/// Which of this member's arrays are ordinary: memory that its GPU reaches, and other PEs do not.
struct Ordinary {
    bool dst = false, src = false;
};

/// Throws Error: not_symmetric for memory that the GPU does not reach, use_after_free, invalid_argument.
Ordinary check_arrays(const TeamState& team, const DeviceMemory& device, const char* operation,
                      const GroupArguments& arguments);
/// As start_collective, of arrays of which some are ordinary; `call` is group_call's of the arguments. Throws
/// Error(not_symmetric) for a large message for which other members would have to find one.
void start_ordinary(const TeamState& team, const DeviceMemory& device, const char* operation,
                    const GroupArguments& arguments, heap::GroupCall call, const Ordinary& ordinary,
                    heap::StreamHandle stream);

}  // namespace atl::core
