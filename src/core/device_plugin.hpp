// libatoll_cuda.so, found when a GPU is first used.
#pragma once

#include "heap/device_heap.hpp"

#include <string>

namespace atl::core {

/// Loaded once a process and never unloaded. Throws Error(unsupported): where it was looked for, or that it
/// is of another release.
const heap::DevicePlugin& device_plugin();

/// What of it stands here, for people. Loads the library, which starts no driver.
std::string describe_device_plugin();

}  // namespace atl::core
