// What stands behind OpenSHMEM's C names: handles, and the one job of the process.
#pragma once

#include <set>
#include <string>

#include "atoll/job.hpp"
#include "shmem/handle_pool.hpp"
#include "shmemx.h"

namespace atl::shmem {

/// Which C name was called, and on which context: what an error says, and where an operation goes.
struct Call {
    const char* name;
    shmem_ctx_t ctx;
};

/// What a shmem_team_t beyond the predefined ones points to.
struct TeamObject {
    Team team;                       ///< empty once destroyed
    int num_contexts = 0;            ///< asked for at creation; 0: no limit
    std::set<shmem_ctx_t> contexts;  ///< they end with their team
};

/// What a shmem_ctx_t beyond the default points to.
struct ContextObject {
    Context context;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    std::size_t session_ops = 0;  ///< hint of a running session
    long session_options = 0;
    bool in_session = false;
};

/// State of the C front: global, since C passes no object. Nothing in it is destroyed at exit.
struct Front {
    const Context* context = nullptr;  ///< default context while initialized
    Job* job = nullptr;
    TeamObject* world = nullptr;
    TeamObject* shared = nullptr;
    TeamObject* host = nullptr;
    TeamObject* rail = nullptr;
    bool debug = false;  ///< SHMEM_DEBUG: say what is otherwise only a status
};
extern Front front;
extern HandlePool<ContextObject> contexts;
extern HandlePool<TeamObject> teams;

/// One that the program did not make.
inline bool is_predefined(shmem_team_t team) {
    return team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED || team == SHMEMX_TEAM_HOST ||
           team == SHMEMX_TEAM_RAIL;
}

/// ATOLL_CHECK is `args` or `all`: mistakes end the job where an error status would be returned.
inline bool is_checked() { return front.context && front.context->window().check_args; }

[[noreturn, gnu::cold]] void fail(
    const Call& call);  ///< inside a catch block: says the sentence and ends the job
[[noreturn, gnu::cold]] void fail(const Call& call, const std::string& sentence);
[[noreturn, gnu::cold]] void fail_no_context(const Call& call);
void remember_error(const Call& call, const char* sentence) noexcept;  ///< for shmemx_last_error
void forget_active_sets();

/// One that the program made. Ends the job for what is none.
const Context& made_context(Call call);
/// Inlined by force, as `guarded` is.
[[gnu::always_inline]] inline const Context& context_of(const Call& call) {
    if (call.ctx == SHMEM_CTX_DEFAULT) [[likely]] {
        if (!front.context) [[unlikely]]
            fail_no_context(call);
        return *front.context;
    }
    return made_context(call);
}

/// Throws Error(invalid_argument) for what is no team's handle. What it gives may be destroyed already.
TeamObject& find_team(shmem_team_t team);
/// False for what is no handle, and for a team that was destroyed.
bool is_usable(shmem_team_t team) noexcept;
/// find_team; throws Error(use_after_free) for one that was destroyed.
TeamObject& team_object(shmem_team_t team);
inline const Team& team_of(shmem_team_t team) { return team_object(team).team; }
/// Null for a team that this PE is not in, and SHMEM_TEAM_INVALID for it.
shmem_team_t handle_of(Team team, int num_contexts = 0);
void open_teams();
void close_teams();

/// Errors must not leave C functions: they end the job, by name. Costs nothing until one is thrown. Inlined
/// by force: else the arguments of a call of a few nanoseconds would go through memory.
template <class Body> [[gnu::always_inline]] inline auto guarded(const Call& call, Body&& body) {
    try {
        return body();
    } catch (...) {
        fail(call);
    }
}
/// For calls that return a status: an error that leaves the job usable is nonzero.
int status_of(const Call& call, const Error& error, bool is_mistake);
template <class Body> inline int status(const Call& call, Body&& body, bool is_mistake = false) {
    try {
        body();
        return 0;
    } catch (const Error& error) {
        return status_of(call, error, is_mistake);
    } catch (...) {
        fail(call);
    }
}
/// The same for collectives on a team: with ATOLL_CHECK what is wrong with them ends the job.
template <class Body> inline int collective(const Call& call, Body&& body) {
    return status(call, body, true);
}

}  // namespace atl::shmem
