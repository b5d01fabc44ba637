// For steps that all PEs take or none: a local error is thrown only after the others know of it.
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
