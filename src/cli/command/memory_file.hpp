// memory_file: a file in memory, without a name in any file system.
#pragma once

#include <string_view>

#include "common/descriptors/fd.hpp"

namespace atl::cli {

/// Returns a file with this content, at its begin. Empty if there is no memory for it. `name` is for /proc.
common::Fd memory_file(const char* name, std::string_view content = {});

}  // namespace atl::cli
