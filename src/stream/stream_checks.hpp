// Checks shared by stream-ordered operations and collectives.
#pragma once

#include "atoll/device/team.hpp"
#include "atoll/stream.hpp"
#include "gpu/heap/device_memory.hpp"

namespace atl::stream {

/// The team as an argument of the library's kernels. Throws Error: not_initialized, unsupported.
device::Team stream_team(core::TeamState& team);
/// The same, before the team's first use on that stream. Also throws invalid_argument during a capture.
device::Team stream_team(core::TeamState& team, Stream stream, bool far_too = false);
/// Called before a team's first collective or message on that stream. Local. Throws the errors of
/// stream_team.
void prepare_streams_of(core::TeamState& team, Stream stream);
/// Throws Error: not_initialized (no device heap), invalid_argument (a stream of another GPU).
const gpu::DeviceMemory& device_for_streams(const core::JobState& job, const void* stream);
/// Throws Error: not_symmetric, use_after_free, unless checks are off.
void check_on_device(const core::JobState& job, const gpu::DeviceMemory& device, const void* symmetric,
                     std::size_t bytes);
/// Address for kernels of this PE's own words of `each` bytes: in the device heap, or pinned in the host
/// heap. Throws the errors of check_on_device, also for misaligned words.
void* own_words(const core::ContextState& context, const gpu::DeviceMemory& device, void* words,
                std::size_t bytes, std::size_t each);
/// The type by which reports show a word. Throws Error(dtype_mismatch) for a type that is not an integer.
device::Values reported_values(DType type);

}  // namespace atl::stream
