// What stands behind OpenSHMEM's C names: handles, and the one job of the process.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "atoll/job.hpp"
#include "shmem.h"

namespace atl::shmem {

/// Which C name was called, and on which context: what an error says, and where an operation goes.
struct Call {
    const char* name;
    shmem_ctx_t ctx;
};

/// What a shmem_team_t beyond the predefined ones points to.
struct TeamObject {
    Team team;
    int num_contexts = 0;            ///< asked for at creation; 0: no contexts
    std::set<shmem_ctx_t> contexts;  ///< shareable ones end with their team
};

/// What a shmem_ctx_t beyond the default points to.
struct ContextObject {
    Context context;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    bool is_private = false;
    std::size_t session_ops = 0;  ///< hint of a running session
    long session_options = 0;
    bool in_session = false;
};

/// State of the C front: global, since C passes no object.
struct Front {
    const Context* context = nullptr;  ///< default context while initialized
    Job* job = nullptr;
    int thread_level = SHMEM_THREAD_SINGLE;
    bool implicit_finalize = false;  ///< started by start_pes: exit finalizes
    TeamObject world, shared;
    std::mutex mutex;  ///< guards the sets of handles
};
extern Front front;

[[noreturn]] void fail(const Call& call);  ///< inside a catch block: says the sentence and ends the job
[[noreturn]] void fail(const Call& call, const std::string& sentence);
[[noreturn]] void fail_not_initialized(const char* name);
void remember_error(const char* sentence) noexcept;  ///< for shmemx_last_error

inline const Context& context_of(const Call& call) {
    if (call.ctx == SHMEM_CTX_DEFAULT) [[likely]] {
        if (!front.context) [[unlikely]]
            fail_not_initialized(call.name);
        return *front.context;
    }
    return reinterpret_cast<ContextObject*>(call.ctx)->context;
}

/// Throws Error(use_after_free) for SHMEM_TEAM_INVALID.
TeamObject& team_object(shmem_team_t team);
inline const Team& team_of(shmem_team_t team) { return team_object(team).team; }

/// Errors must not leave C functions: they end the job, by name. Costs nothing until one is thrown.
template <class Body> inline auto guarded(const Call& call, Body&& body) {
    try {
        return body();
    } catch (...) {
        fail(call);
    }
}
/// For calls that return a status: an error that leaves the job usable is nonzero.
int status_of(const Call& call, const Error& error);
template <class Body> inline int status(const Call& call, Body&& body) {
    try {
        body();
        return 0;
    } catch (const Error& error) {
        return status_of(call, error);
    } catch (...) {
        fail(call);
    }
}

}  // namespace atl::shmem
