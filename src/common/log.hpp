// What Atoll says on standard error: one whole line a call, so that PEs do not tear each other's.
#pragma once

#include "atoll/export.hpp"

#include <string>

namespace atl::common {

/// "atoll: warning: …"
ATOLL_API void warn(const std::string& sentence);
/// "atoll: …"
ATOLL_API void say(const std::string& sentence);
/// The text of an errno value.
std::string errno_text(int error);

}  // namespace atl::common
