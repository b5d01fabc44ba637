// Route: the path from this PE to a symmetric object of another PE, decided in one function for every
// operation of the host.
#pragma once

#include "core/context/context_state.hpp"
#include "gpu/heap/device_memory.hpp"

#include <cstdint>

namespace atl::core {

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
    bool local_on_gpu =
        false;                 ///< the local memory of the operation is a GPU's; unknown (false) on Path::gpu
    int pe = 0;                ///< in the world
    void* there = nullptr;     ///< of Path::window
    std::uint64_t offset = 0;  ///< the transport's offset of the object
    const gpu::DeviceMemory* device = nullptr;  ///< null in a job without device heaps
};

/// The route to `symmetric` of team PE `pe`, whose address and PE the caller has checked. `local` is the
/// local memory of the operation; null if it has none. A read of a constant of the executable uses this PE's
/// own, because constants are equal on all PEs and no transport reaches them.
Route route_of(const ContextState& context, Access access, const void* symmetric, const void* local, int pe);

}  // namespace atl::core
