// Allocations of the C fronts, which return null where the heap is full.
#pragma once

#include "shmem/front.hpp"

namespace atl::shmem {

/// The job of the process; ends the process if it is in none. `name` is the called C name.
inline Job& job_for(const char* name) {
    if (!front.job) fail_no_context({name, SHMEM_CTX_DEFAULT});
    return *front.job;
}

/// The address that `body` returns for the job. An error for which `is_null(code)` is true gives null, on
/// every PE; other errors end the job.
template <class Body, class IsNull> void* null_or_end(const char* name, Body&& body, IsNull&& is_null) {
    const Call call{name, SHMEM_CTX_INVALID};
    Job& job = job_for(name);
    try {
        return body(job);
    } catch (const Error& error) {
        remember_error(call, error.what());
        if (is_null(error.code())) return nullptr;
        fail(call);
    } catch (...) {
        fail(call);
    }
}

}  // namespace atl::shmem
