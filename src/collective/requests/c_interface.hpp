// Errors and calls of the plain C interface of groups (atoll/groups.h).
#pragma once

#include "atoll/groups.h"
#include "atoll/job.hpp"
#include "collective/requests/call.hpp"

#include <exception>
#include <string>

namespace atl::requests {

inline thread_local std::string last_text;
inline thread_local int last_code = 0;  ///< an ErrorCode, or 0 for other exceptions

int failure_of(ErrorCode code);
Call call_of(const atoll_call& from);
JobOptions::Store store_of(const atoll_store& from);

/// Calls `body`; an exception becomes last_error and a negative number.
template <class Body> int guarded_call(Body&& body) {
    try {
        return body();
    } catch (const Error& error) {
        last_text = error.what();
        last_code = static_cast<int>(error.code());
        return failure_of(error.code());
    } catch (const std::exception& error) {
        last_text = error.what();
        last_code = 0;
        return ATOLL_FAILED;
    }
}

}  // namespace atl::requests
