// error_of: catches a local error, so that this PE can tell the other PEs before it throws.
#pragma once

#include <exception>

namespace atl::common {

/// Returns the exception thrown by the call, or null.
template <class Call> std::exception_ptr error_of(Call&& call) {
    try {
        call();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace atl::common
