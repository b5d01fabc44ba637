// The modules that were compiled for PyTorch (python/atoll/_c10d/_build.py), for `atoll info`.
#pragma once

#include <string>
#include <vector>

namespace atl::cli {

/// The names of the modules that a wheel brought or the user's cache has, such as
/// "torch-2.15.0+cu132-cpython-311-x86_64-linux-gnu-...".
std::vector<std::string> torch_modules();

}  // namespace atl::cli
