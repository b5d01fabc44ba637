// The installed tree to which this launcher belongs.
#pragma once

#include <string>

namespace atl::cli {

/// Returns its prefix, or the package in its Python environment. Empty if the launcher was not installed.
std::string installed_tree();

}  // namespace atl::cli
