#include "core/context/route.hpp"

#include "core/job/job_state.hpp"

namespace atl::core {

Route route_of(const ContextState& context, Access access, const void* symmetric, const void* local, int pe) {
    const JobState& job = context.job();
    const detail::Window& window = job.window();
    const gpu::DeviceMemory* device = job.devices().memory();
    Route route{.pe = context.team().world_pe(pe), .device = device};
    if (device && device->holds(symmetric)) return route_on_device(context, *device, symmetric, pe);
    route.offset = window.offset_of(symmetric);
    route.local_on_gpu = device && local && device->local().is_on_gpu(local);
    auto* const mine = static_cast<char*>(const_cast<void*>(symmetric));
    if (void* const there = window.near_at(mine, context.team().map().slot(pe))) {
        route.there = there;
    } else if (access == Access::read && !window.shares(symmetric, 1)) {
        route.there = mine;
    } else {
        route.path = route.local_on_gpu ? Path::staged : Path::transport;
    }
    return route;
}

Route route_on_device(const ContextState& context, const gpu::DeviceMemory& device, const void* symmetric,
                      int pe) {
    Route route{.pe = context.team().world_pe(pe), .device = &device};
    route.path = path_to(context.job(), Memory::device, route.pe);
    if (route.path == Path::gpu)
        route.there = device.at(symmetric, route.pe);
    else
        route.offset = device.far().offset(symmetric);
    return route;
}

Route route_of_own(const JobState& job, const void* array, std::size_t bytes) {
    Route route{.pe = job.pe(), .device = job.devices().memory()};
    if (const std::size_t offset = route.device->offset_of(array); offset != SIZE_MAX) {
        route.path = Path::gpu;
        route.offset = offset;
        return route;
    }
    route.local_on_gpu = route.device->local().reaches(array, bytes);
    if (route.local_on_gpu) route.path = Path::gpu;
    return route;
}

Path path_to(const JobState& job, Memory memory, int world_pe) {
    if (memory == Memory::device)
        return job.devices().memory()->far().has(world_pe) ? Path::staged : Path::gpu;
    return job.topology().has_window_to(world_pe) ? Path::window : Path::transport;
}

}  // namespace atl::core
