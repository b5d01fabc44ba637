// The GPUs that this process sees.
#pragma once

#include "cuda/driver.hpp"
#include "heap/device_heap.hpp"

namespace atl::cuda {

/// Throws Error: invalid_argument (no such number), unsupported (a GPU that cannot share memory by
/// descriptors).
CUdevice choose_device(const Driver& driver, const heap::DeviceChoice& choice);
heap::DeviceFacts describe_device(const Driver& driver, CUdevice device);
/// The GPU of that name if this process sees it, else -1.
CUdevice find_device(const Driver& driver, const heap::DeviceUuid& uuid);
/// "GPU-1b2f…", as nvidia-smi -L prints it.
std::string uuid_text(const heap::DeviceUuid& uuid);

/// What chunks are made of: memory on that GPU that can be given to others by a descriptor.
CUmemAllocationProp shared_memory_on(CUdevice device);

}  // namespace atl::cuda
