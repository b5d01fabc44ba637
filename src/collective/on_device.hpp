// The host's collectives between arrays of the device heap: the stream form, and its end waited for.
#pragma once

#include "collective/state.hpp"
#include "core/job_state.hpp"
#include "core/stream_team.hpp"

namespace atl::collective {

[[noreturn]] void throw_on_device(const char* operation);

inline bool is_on_device(State& state, const void* dst, const void* src) {
    const core::DeviceMemory* device = state.team().job().device();
    return device && (device->in_window(dst) || device->in_window(src));
}

/// For collectives that have no form on GPUs. Throws Error(not_symmetric).
inline void refuse_on_device(State& state, const char* operation, const void* dst, const void* src) {
    if (is_on_device(state, dst, src)) [[unlikely]]
        throw_on_device(operation);
}

/// Members meet before their kernels start, so that a PE that does not come is waited for by the host, which
/// can say so. Throws as StreamTeam's calls.
void run_on_device(State& state, const char* operation, const core::GroupArguments& arguments);
void reduce_on_device(State& state, const char* operation, const core::GroupArguments& arguments);

}  // namespace atl::collective
