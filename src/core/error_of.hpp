// For steps that all PEs take or none: what went wrong here is thrown only once the others know.
#pragma once

#include <exception>

namespace atl::core {

/// What the call threw; null if nothing.
template <class Call> std::exception_ptr error_of(Call&& call) {
    try {
        call();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace atl::core
