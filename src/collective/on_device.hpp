// Collectives of the host whose arrays are in memory of GPUs: recognized here, run by `src/stream`.
#pragma once

#include "collective/state.hpp"
#include "core/job/job_state.hpp"
#include "gpu/group_arguments.hpp"

namespace atl::collective {

/// Throws Error(collective_mismatch) on all members unless all pass device memory, or none does.
void agree_on_device(State& state, const char* operation, bool mine);

/// True if this member passes GPU memory of any kind. Then all members must; ATOLL_CHECK=all compares it.
inline bool is_on_device(State& state, const char* operation, const void* dst, const void* src) {
    const gpu::DeviceMemory* device = state.team().job().devices().memory();
    if (!device) [[likely]]
        return false;
    const bool mine = device->local().is_on_gpu(dst) || device->local().is_on_gpu(src);
    if (state.team().meetings().checks_all()) agree_on_device(state, operation, mine);
    return mine;
}

/// Runs a collect for which `is_on_device` is true. Returns the number of bytes received.
inline std::size_t collect_on_device(State& state, const core::Called& called,
                                     const gpu::GroupArguments& arguments) {
    return state.job().devices().services()->run_collective(state.team(), called, arguments);
}

/// Runs another collective for which `is_on_device` is true.
inline void run_on_device(State& state, const core::Called& called, const gpu::GroupArguments& arguments) {
    state.job().devices().services()->run_collective(state.team(), called, arguments);
}

}  // namespace atl::collective
