// What the bootstraps throw when the system or a peer refuses.
#pragma once

#include <cerrno>
#include <string>

#include "atoll/error.hpp"
#include "common/log.hpp"

namespace atl::bootstrap {

/// "`what`: No such file or directory." for the present errno.
[[noreturn]] inline void throw_system(const std::string& what) {
    throw Error(ErrorCode::system, what + ": " + common::errno_text(errno) + ".");
}
[[noreturn]] inline void throw_bootstrap(const std::string& sentence) {
    throw Error(ErrorCode::bootstrap, sentence);
}

}  // namespace atl::bootstrap
