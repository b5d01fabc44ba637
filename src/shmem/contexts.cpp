// Contexts, sessions and ordering under OpenSHMEM's names.
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

#include <mutex>
#include <span>

namespace atl::shmem {

namespace {

std::mutex mutex;  // guards all teams' sets of contexts

/// Ends the job for an invalid or destroyed context.
ContextObject& object_of(const char* name, shmem_ctx_t ctx) {
    const Call call{name, ctx};
    ContextObject* object = contexts.find(ctx);
    if (!object || !object->context) fail_no_context(call);
    return *object;
}

const char* name_of(const char* of_default, const char* of_any, shmem_ctx_t ctx) {
    return ctx == SHMEM_CTX_DEFAULT ? of_default : of_any;
}

void check_options(long options) {
    const long unknown = options & ~(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE);
    if (is_checked() && unknown != 0)
        throw Error(
            ErrorCode::invalid_argument,
            "options: " + std::to_string(options) +
                " has unknown bits; combine SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED and SHMEM_CTX_NOSTORE.");
}

void check_room(const TeamObject& team) {
    if (team.num_contexts > 0 && team.contexts.size() >= static_cast<std::size_t>(team.num_contexts))
        throw Error(ErrorCode::invalid_argument,
                    "The team was made for " + std::to_string(team.num_contexts) +
                        " contexts (num_contexts of its configuration) and has as many already.");
}

int create(const Call& call, shmem_team_t team, long options, shmem_ctx_t* ctx) {
    if (!ctx)  // local, and the job can go on
        return status(
            call, [] { throw_null_argument("ctx"); }, true);
    *ctx = SHMEM_CTX_INVALID;
    if (team == SHMEM_TEAM_INVALID) return -1;
    guarded(call, [&] { check_options(options); });
    return status(call, [&] {
        TeamObject& owner = team_object(team);
        Context context = owner.team.create_context({(options & SHMEM_CTX_PRIVATE) != 0,
                                                     (options & SHMEM_CTX_SERIALIZED) != 0,
                                                     (options & SHMEM_CTX_NOSTORE) != 0});
        const std::lock_guard lock(mutex);
        check_room(owner);
        ContextObject* object = contexts.take();
        if (!object)
            throw Error(ErrorCode::out_of_memory,
                        std::to_string(contexts.most) +
                            " contexts are alive, or no memory is left for another; destroy some.");
        object->team = team;
        object->in_session = false;
        object->context = std::move(context);
        *ctx = reinterpret_cast<shmem_ctx_t>(object);
        owner.contexts.insert(*ctx);
    });
}

}  // namespace

int ctx_create(long options, shmem_ctx_t* ctx) {
    return create({"shmem_ctx_create", SHMEM_CTX_INVALID}, SHMEM_TEAM_WORLD, options, ctx);
}

int team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
    return create({"shmem_team_create_ctx", SHMEM_CTX_INVALID}, team, options, ctx);
}

void ctx_destroy(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID) return;
    const Call call{"shmem_ctx_destroy", ctx};
    if (ctx == SHMEM_CTX_DEFAULT) {
        if (is_checked()) fail(call, "ctx: SHMEM_CTX_DEFAULT cannot be destroyed; it ends with the job.");
        return ctx_quiet(ctx);
    }
    guarded(call, [&] {
        ContextObject& object = object_of(call.name, ctx);
        object.context.quiet();
        const std::lock_guard lock(mutex);
        find_team(object.team).contexts.erase(ctx);
        object.context = Context();
        contexts.release(&object);
    });
}

int ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
    constexpr const char* name = "shmem_ctx_get_team";
    if (!team)
        return status(
            {name, ctx}, [] { throw_null_argument("team"); }, true);
    *team = ctx == SHMEM_CTX_INVALID   ? SHMEM_TEAM_INVALID
            : ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD
                                       : object_of(name, ctx).team;
    return ctx == SHMEM_CTX_INVALID ? -1 : 0;
}

// Sessions are hints. The window has nothing to prepare, so they are only stored for queries.
void ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long mask) {
    if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT) return;
    ContextObject& object = object_of("shmem_ctx_session_start", ctx);
    object.session_options = object.in_session ? object.session_options | options : options;
    object.in_session = true;
    if (config && (mask & SHMEM_CTX_SESSION_TOTAL_OPS)) object.session_ops = config->total_ops;
}

void ctx_session_stop(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT) return;
    object_of("shmem_ctx_session_stop", ctx).in_session = false;
}

void fence() { ctx_fence(SHMEM_CTX_DEFAULT); }
void quiet() { ctx_quiet(SHMEM_CTX_DEFAULT); }

void ctx_fence(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID) return;
    const Call call{name_of("shmem_fence", "shmem_ctx_fence", ctx), ctx};
    guarded(call, [&] { context_of(call).fence(); });
}

void ctx_quiet(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID) return;
    const Call call{name_of("shmem_quiet", "shmem_ctx_quiet", ctx), ctx};
    guarded(call, [&] { context_of(call).quiet(); });
}

void pe_quiet(const int* pes, std::size_t n) { ctx_pe_quiet(SHMEM_CTX_DEFAULT, pes, n); }

void ctx_pe_quiet(shmem_ctx_t ctx, const int* pes, std::size_t n) {
    if (ctx == SHMEM_CTX_INVALID) return;
    const Call call{name_of("shmem_pe_quiet", "shmem_ctx_pe_quiet", ctx), ctx};
    guarded(call, [&] {
        if (n != 0) check_given("target_pes", pes);
        context_of(call).pe_quiet(std::span<const int>(pes, n));
    });
}

}  // namespace atl::shmem
