// Route: the path from this PE to memory. The functions of this file alone decide it, for the host, streams
// and kernels.
#pragma once

#include "core/base/device_access.hpp"
#include "core/team/context_state.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl::core {

class JobState;
class TeamState;

/// Paths to a symmetric object.
enum class Path : std::uint8_t {
    window,     ///< loads and stores of the host, at Route::there
    gpu,        ///< copies and kernels of this PE's GPU; the window of device heaps reaches the object
    transport,  ///< messages: another host, or a transport that ATOLL_TRANSPORT forces
    staged,     ///< messages, with memory of a GPU at one end or both
};

/// Kind of access. Reads also reach constants of the executable.
enum class Access : std::uint8_t { read, write };

struct Route {
    Path path = Path::window;
    /// The local memory of the operation is a GPU's. Unknown (false) on Path::gpu, except from
    /// `route_of_own`.
    bool local_on_gpu = false;
    int pe = 0;                ///< in the world
    void* there = nullptr;     ///< address for Path::window; for Path::gpu an address for kernels
    std::uint64_t offset = 0;  ///< the transport's offset of the object
    const gpu::DeviceMemory* device = nullptr;  ///< null in a job without device heaps
};

/// The route to `symmetric` of team PE `pe`, whose address and PE the caller has checked. `local` is the
/// local memory of the operation; null if it has none. A read of a constant of the executable uses this PE's
/// own, because constants are equal on all PEs and no transport reaches them.
Route route_of(const ContextState& context, Access access, const void* symmetric, const void* local, int pe);
/// The same for an object of the device heap, by kernels and copies on streams: Path::gpu or Path::staged.
Route route_on_device(const ContextState& context, const gpu::DeviceMemory& device, const void* symmetric,
                      int pe);
/// The route by which a collective of GPUs reaches an array of this PE, in a job with a device heap.
/// Path::gpu: this PE's GPU reaches it; so do the others', at `offset`, unless `local_on_gpu`. Path::window:
/// only the host reaches it. Throws Error(invalid_argument) for memory of another GPU.
Route route_of_own(const JobState& job, const void* array, std::size_t bytes);
/// The path to the heap of a PE of the world. For Memory::host it is Path::window or Path::transport. For
/// Memory::device, which must be open, it is Path::gpu or Path::staged.
Path path_to(const JobState& job, Memory memory, int world_pe);

}  // namespace atl::core
