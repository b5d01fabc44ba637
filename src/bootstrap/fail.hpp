// What the bootstraps throw when the system or a peer refuses.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "atoll/error.hpp"

namespace atl::bootstrap {

inline std::string errno_sentence(int error) { return std::generic_category().message(error); }

/// "`what`: No such file or directory." for the present errno.
[[noreturn]] inline void throw_system(const std::string& what) {
    throw Error(ErrorCode::system, what + ": " + errno_sentence(errno) + ".");
}
[[noreturn]] inline void throw_bootstrap(const std::string& sentence) {
    throw Error(ErrorCode::bootstrap, sentence);
}

}  // namespace atl::bootstrap
