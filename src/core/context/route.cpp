#include "core/context/route.hpp"

#include "core/job/job_state.hpp"

namespace atl::core {

Route route_of(const ContextState& context, Access access, const void* symmetric, const void* local, int pe) {
    const JobState& job = context.job();
    const detail::Window& window = job.window();
    const gpu::DeviceMemory* device = job.device();
    Route route{.pe = context.team().world_pe(pe), .device = device};
    if (device && device->holds(symmetric)) {
        route.path = device->far().has(route.pe) ? Path::staged : Path::gpu;
        route.offset = device->far().offset(symmetric);
        return route;
    }
    route.offset = window.offset_of(symmetric);
    route.local_on_gpu = device && local && device->local().is_on_gpu(local);
    auto* const mine = static_cast<char*>(const_cast<void*>(symmetric));
    if (const int slot = context.team().map().slot(pe); slot >= 0) {
        route.there = window.at(mine, slot);
    } else if (access == Access::read && !window.shares(symmetric, 1)) {
        route.there = mine;
    } else {
        route.path = route.local_on_gpu ? Path::staged : Path::transport;
    }
    return route;
}

}  // namespace atl::core
