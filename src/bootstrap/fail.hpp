// Functions that throw the errors of the bootstraps: a system call failed, or a peer refused.
#pragma once

#include <cerrno>
#include <string>

#include "atoll/error.hpp"
#include "common/log.hpp"

namespace atl::bootstrap {

/// Throws "`what`: No such file or directory.", with the text of the current errno.
[[noreturn]] inline void throw_system(const std::string& what) {
    throw Error(ErrorCode::system, what + ": " + common::errno_text(errno) + ".");
}
[[noreturn]] inline void throw_bootstrap(const std::string& sentence) {
    throw Error(ErrorCode::bootstrap, sentence);
}

}  // namespace atl::bootstrap
