// Parts of the plain C interfaces of symmetric memory, of hosts and of GPUs (atoll/symmetric.h).
#pragma once

#include "collective/requests/c_interface.hpp"
#include "collective/symmetric/symmetric.hpp"

namespace atl::symmetric {

/// Returns the result of `body`; null if it throws, with last_error set.
template <class Body> auto pointer_of(Body&& body) -> decltype(body()) {
    decltype(body()) made = nullptr;
    requests::guarded_call([&] {
        made = body();
        return 0;
    });
    return made;
}

inline Bounds bounds_of(double timeout_s, int (*interrupted)()) {
    Bounds bounds;
    bounds.timeout_s = timeout_s;
    if (interrupted != nullptr)
        bounds.interrupted = [interrupted] {
            if (interrupted() != 0) throw Error(ErrorCode::interrupted, "Interrupted while waiting.");
        };
    return bounds;
}

}  // namespace atl::symmetric
