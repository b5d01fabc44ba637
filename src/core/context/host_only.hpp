// Check for calls whose data the CPU moves, word by word.
#pragma once

#include "core/job/job_state.hpp"

namespace atl::core {

[[noreturn]] void throw_on_gpu(const char* operation, const void* local);

/// Throws Error(invalid_argument) for memory of a GPU. In a job without a device heap it returns at once.
inline void refuse_gpu_memory(const JobState& job, const char* operation, const void* local) {
    if (!job.devices().is_open().load(std::memory_order_relaxed)) [[likely]]
        return;
    if (const gpu::DeviceMemory* device = job.devices().memory(); device && device->local().is_on_gpu(local))
        throw_on_gpu(operation, local);
}

}  // namespace atl::core
