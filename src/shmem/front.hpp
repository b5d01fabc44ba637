// The C front: objects behind OpenSHMEM's handles, and the one job of the process.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "atoll/job.hpp"
#include "shmem/handle_pool.hpp"
#include "shmemx.h"

namespace atl::shmem {

/// The called C name, for errors, and the context of the operation.
struct Call {
    const char* name;
    shmem_ctx_t ctx;
};

/// Target of a shmem_team_t, except the predefined ones.
struct TeamObject {
    Team team;                       ///< empty once destroyed
    int num_contexts = 0;            ///< requested at creation; 0: no limit
    std::set<shmem_ctx_t> contexts;  ///< they end with their team
};

/// Target of a shmem_ctx_t, except the default one.
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
    bool debug = false;  ///< SHMEM_DEBUG: also report errors that are returned as a status
};
extern Front front;
extern HandlePool<ContextObject> contexts;
extern HandlePool<TeamObject> teams;

/// True for a team that the program did not create.
inline bool is_predefined(shmem_team_t team) {
    return team == SHMEM_TEAM_WORLD || team == SHMEM_TEAM_SHARED || team == SHMEMX_TEAM_HOST ||
           team == SHMEMX_TEAM_RAIL;
}

/// True if ATOLL_CHECK is `args` or `all`: mistakes end the job instead of returning an error status.
inline bool is_checked() { return front.context && front.context->window().check_args; }

[[noreturn, gnu::cold]] void fail(
    const Call& call);  ///< in a catch block: reports the error and ends the job
[[noreturn, gnu::cold]] void fail(const Call& call, const std::string& sentence);
[[noreturn, gnu::cold]] void fail_no_context(const Call& call);
void remember_error(const Call& call, const char* sentence) noexcept;  ///< for shmemx_last_error
void forget_active_sets();

/// Joins a job with the options that the function returns. If it cannot be made, reports and stores the
/// error, and returns false.
bool open_front(const Call& call, const std::function<JobOptions()>& make_options);

/// A context that the program created. Ends the job for an invalid one.
const Context& made_context(Call call);
/// Always inlined, for the reason given at `guarded`.
[[gnu::always_inline]] inline const Context& context_of(const Call& call) {
    if (call.ctx == SHMEM_CTX_DEFAULT) [[likely]] {
        if (!front.context) [[unlikely]]
            fail_no_context(call);
        return *front.context;
    }
    return made_context(call);
}

/// Returns the sentence about an invalid handle in the words of another front; null for OpenSHMEM's own.
extern std::string (*invalid_team_text)();
/// Throws Error(invalid_argument) for an invalid handle. The result may be destroyed already.
TeamObject& find_team(shmem_team_t team);
/// False for an invalid handle, and for a destroyed team.
bool is_usable(shmem_team_t team) noexcept;
/// find_team; throws Error(use_after_free) for a destroyed team.
TeamObject& team_object(shmem_team_t team);
inline const Team& team_of(shmem_team_t team) { return team_object(team).team; }
/// Null if this PE is not in the team, and SHMEM_TEAM_INVALID for its handle.
shmem_team_t handle_of(Team team, int num_contexts = 0);
void open_teams();
void close_teams();

/// Runs the body; an error ends the job with a report that names the call. Errors must not leave C functions.
/// Costs nothing unless one is thrown. Always inlined: otherwise the arguments of a call of a few nanoseconds
/// would go through memory.
template <class Body> [[gnu::always_inline]] inline auto guarded(const Call& call, Body&& body) {
    try {
        return body();
    } catch (...) {
        fail(call);
    }
}
/// For calls that return a status: nonzero for an error that leaves the job usable. A `number` that is not 0
/// is that status.
int status_of(const Call& call, const Error& error, bool is_mistake, int number = 0);
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
/// The same for collectives on a team: with ATOLL_CHECK a mistake in them ends the job.
template <class Body> inline int collective(const Call& call, Body&& body) {
    return status(call, body, true);
}

}  // namespace atl::shmem
