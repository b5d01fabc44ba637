// The GPUs that this process sees.
#pragma once

#include "gpu/cuda/driver.hpp"
#include "gpu/gpu.hpp"

namespace atl::cuda {

/// Selects a GPU. Throws Error: invalid_argument (no such number), unsupported (a GPU that cannot share
/// memory by descriptors).
CUdevice choose_device(const Driver& driver, const gpu::DeviceChoice& choice);
gpu::DeviceFacts describe_device(const Driver& driver, CUdevice device);
/// The GPU with that UUID, or -1 if this process does not see it.
CUdevice find_device(const Driver& driver, const gpu::DeviceUuid& uuid);
/// The UUID as nvidia-smi -L prints it: "GPU-1b2f…".
std::string uuid_text(const gpu::DeviceUuid& uuid);

/// The properties of a chunk: memory on that GPU that can be exported as a descriptor.
CUmemAllocationProp shared_memory_on(CUdevice device);

}  // namespace atl::cuda
