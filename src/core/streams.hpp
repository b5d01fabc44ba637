// What stream-ordered operations and collectives check alike.
#pragma once

#include "atoll/device/team.hpp"
#include "atoll/stream.hpp"
#include "core/device_memory.hpp"

namespace atl::core {

/// The team as the library's own kernels take it. Throws Error: not_initialized, unsupported.
device::Team stream_team(TeamState& team);
/// The same, before the team's first use on that stream: also invalid_argument, in the middle of a capture.
device::Team stream_team(TeamState& team, Stream stream, bool far_too = false);
/// Before a team's first collective or message on that stream. Local. Throws as above.
void prepare_streams_of(TeamState& team, Stream stream);
/// Throws Error: not_initialized (no device heap), invalid_argument (a stream of another GPU).
const DeviceMemory& device_for_streams(const JobState& job, const void* stream);
/// Throws Error: not_symmetric, use_after_free, unless checks are off.
void check_on_device(const JobState& job, const DeviceMemory& device, const void* symmetric,
                     std::size_t bytes);
/// This PE's own words of `each` bytes to look at, as a kernel reaches them: of the device heap, or pinned of
/// the host heap. Throws as above, also for misaligned ones.
void* own_words(const ContextState& context, const DeviceMemory& device, void* words, std::size_t bytes,
                std::size_t each);
/// Of device::Report::compare, beside the comparison. Throws Error(dtype_mismatch) unless it is an integer.
int reported_values(DType type);

}  // namespace atl::core
