// Contexts, sessions and order by OpenSHMEM's names.
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <span>

namespace atl::shmem {

namespace {

/// A destroyed context's object stays for a while, so that a handle used after destroy is found out.
constexpr std::size_t kept_after_destroy = 4096;

std::mutex mutex;  // of all teams' sets of contexts, and of `destroyed`
auto& destroyed = *new std::deque<std::unique_ptr<ContextObject>>;  // never destroyed itself

ContextObject& object_of(shmem_ctx_t ctx) { return *reinterpret_cast<ContextObject*>(ctx); }

const char* name_of(const char* of_default, const char* of_any, shmem_ctx_t ctx) {
    return ctx == SHMEM_CTX_DEFAULT ? of_default : of_any;
}

void check_options(long options) {
    const long unknown = options & ~(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE);
    if (is_checked() && unknown != 0)
        throw Error(ErrorCode::invalid_argument,
                    "options: " + std::to_string(options) +
                        " is no sum of SHMEM_CTX_PRIVATE, SHMEM_CTX_SERIALIZED and SHMEM_CTX_NOSTORE.");
}

void check_room(const TeamObject& team, bool predefined) {
    if (!predefined && static_cast<int>(team.contexts.size()) >= team.num_contexts)
        throw Error(
            ErrorCode::invalid_argument,
            "The team was made for " + std::to_string(team.num_contexts) +
                " contexts (num_contexts of its configuration, 0 by default) and has as many already.");
}

}  // namespace

int ctx_create(long options, shmem_ctx_t* ctx) { return team_create_ctx(SHMEM_TEAM_WORLD, options, ctx); }

int team_create_ctx(shmem_team_t team, long options, shmem_ctx_t* ctx) {
    *ctx = SHMEM_CTX_INVALID;
    if (team == SHMEM_TEAM_INVALID) return -1;
    const Call call{"shmem_team_create_ctx", SHMEM_CTX_INVALID};
    guarded(call, [&] { check_options(options); });
    return status(call, [&] {
        TeamObject& owner = team_object(team);
        auto object = std::make_unique<ContextObject>();
        object->team = team;
        object->context = owner.team.create_context({(options & SHMEM_CTX_PRIVATE) != 0,
                                                     (options & SHMEM_CTX_SERIALIZED) != 0,
                                                     (options & SHMEM_CTX_NOSTORE) != 0});
        const std::lock_guard lock(mutex);
        check_room(owner, is_predefined(team));
        auto* handle = reinterpret_cast<shmem_ctx_t>(object.get());
        owner.contexts.insert(handle);
        static_cast<void>(object.release());
        *ctx = handle;
    });
}

void ctx_destroy(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID) return;
    if (ctx == SHMEM_CTX_DEFAULT) return ctx_quiet(ctx);
    guarded({"shmem_ctx_destroy", ctx}, [&] {
        ContextObject& object = object_of(ctx);
        if (!object.context) fail_no_context({"shmem_ctx_destroy", ctx});
        object.context.quiet();
        const std::lock_guard lock(mutex);
        find_team(object.team).contexts.erase(ctx);
        object.context = Context();
        destroyed.emplace_back(&object);
        if (destroyed.size() > kept_after_destroy) destroyed.pop_front();
    });
}

int ctx_get_team(shmem_ctx_t ctx, shmem_team_t* team) {
    *team = ctx == SHMEM_CTX_INVALID   ? SHMEM_TEAM_INVALID
            : ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD
                                       : object_of(ctx).team;
    return ctx == SHMEM_CTX_INVALID ? -1 : 0;
}

// Sessions are hints; the window has nothing to prepare, so they are kept for those who ask.
void ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t* config, long mask) {
    if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT) return;
    ContextObject& object = object_of(ctx);
    object.session_options = object.in_session ? object.session_options | options : options;
    object.in_session = true;
    if (config && (mask & SHMEM_CTX_SESSION_TOTAL_OPS)) object.session_ops = config->total_ops;
}

void ctx_session_stop(shmem_ctx_t ctx) {
    if (ctx == SHMEM_CTX_INVALID || ctx == SHMEM_CTX_DEFAULT) return;
    object_of(ctx).in_session = false;
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
    guarded(call, [&] { context_of(call).pe_quiet(std::span<const int>(pes, n)); });
}

}  // namespace atl::shmem
