// Finds libatoll_cuda.so when a GPU is first used.
#pragma once

#include "gpu/gpu.hpp"

#include <string>

namespace atl::gpu {

/// Loads the library once a process, and never unloads it. Throws Error(unsupported) with the searched
/// places, or if it is of another release.
const DevicePlugin& device_plugin();

/// Returns a human-readable description of the installed library. Loads it, which starts no driver.
std::string describe_device_plugin();

}  // namespace atl::gpu
