// Messages on standard error: one whole line per call, so that lines of PEs do not mix.
#pragma once

#include "atoll/export.hpp"

#include <string>

namespace atl::common {

/// Prints "atoll: warning: …".
ATOLL_API void warn(const std::string& sentence);
/// Prints "atoll: …".
ATOLL_API void say(const std::string& sentence);
/// The text of an errno value.
std::string errno_text(int error);

}  // namespace atl::common
