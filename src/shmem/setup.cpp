// Set-up, exit and queries of OpenSHMEM's C names.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>

#include <pthread.h>

#include "common/elf/call_site.hpp"
#include "common/log.hpp"
#include "core/context/allocators.hpp"
#include "core/job/job_state.hpp"
#include "shmem/checks.hpp"
#include "shmem/end.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"
#include "shmem/program.hpp"

namespace atl::shmem {

constinit Front front;
constinit HandlePool<ContextObject> contexts;
constinit HandlePool<TeamObject> teams;

namespace {

thread_local std::string last_error;
std::atomic<int> init_count{0};  // queried by any thread at any time
int thread_level = SHMEM_THREAD_SINGLE;

JobOptions job_options() {
    JobOptions options;
    options.notes = JobOptions::Notes::signals;
    options.static_data = is_linked_by_executable() && !has_tsan_inside();
    return options;
}

/// A forked child is not a PE: its exit must not finalize, nor act for the parent.
void forget_in_child() {
    front = Front{};
    init_count = 0;
}

void open_front(const JobOptions& options = job_options()) {
    static const int watched = ::pthread_atfork(nullptr, nullptr, forget_in_child);
    static_cast<void>(watched);
    if (init_count == 0) {
        front.job = &atl::init(options);
        front.context = &front.job->context();
        front.debug = front.job->state().settings().debug;
        open_teams();
        follow_end_of(*front.job);
        if (front.job->my_pe() == 0 && is_linked_by_executable() && has_tsan_inside())
            common::warn(
                "static objects are not symmetric in a program with clang's ThreadSanitizer; gcc's can do "
                "it.");
    } else {
        atl::init();
    }
    ++init_count;
}

void close_front() {
    if (init_count == 1) {
        front.context->quiet();
        forget_active_sets();
        close_teams();
        stop_following();  // finalize itself checks for the end of the job, and unmaps the board
    }
    atl::finalize();
    if (--init_count != 0) return;
    front = Front{};
    thread_level = SHMEM_THREAD_SINGLE;
}

bool is_of_nvshmem(const Call& call) { return std::string_view(call.name).starts_with("nvshmem"); }

/// The text with OpenSHMEM's names for those of C++; with NVSHMEM's, if the call has a name of NVSHMEM's.
std::string in_words_of(const Call& call, std::string text) {
    if (const std::size_t at = text.find(core::allocators); at != std::string::npos)
        text.replace(at, core::allocators.size(), "shmem_malloc");
    if (!is_of_nvshmem(call)) return text;
    for (const std::string_view word : {"shmem_", "SHMEM_"}) {
        const char* const first = word[0] == 's' ? "nv" : "NV";
        for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1 + 2)) {
            const char before = at == 0 ? ' ' : text[at - 1];
            if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_')
                text.insert(at, first);
        }
    }
    return text;
}

/// Returns a text such as "PE 1, " for messages; empty before the job is joined.
std::string who() { return front.job ? "PE " + std::to_string(front.job->my_pe()) + ", " : ""; }

}  // namespace

void remember_error(const Call& call, const char* sentence) noexcept {
    try {
        last_error = std::string(call.name) + ": " + in_words_of(call, sentence);
        if (front.debug) common::say(who() + last_error);
    } catch (...) {
        last_error.clear();
    }
}
const std::string& remembered_error() noexcept { return last_error; }

void fail(const Call& call, const std::string& sentence) {
    const std::string site = common::call_site(nullptr);
    end_job(front.job, 1,
            who() + call.name + ": " + in_words_of(call, sentence) +
                (site.empty() ? "" : " Called at " + site + "."));
}

namespace {

std::string sentence_of(const Call& call, const Error& error) {
    const bool complete = dynamic_cast<const Mistake*>(&error) != nullptr;
    const std::string argument = complete ? "" : argument_of(call.name, error.code());
    return (argument.empty() ? "" : argument + ": ") + error.what();
}

[[noreturn]] void fail(const Call& call, const Error& error) { fail(call, sentence_of(call, error)); }

}  // namespace

void fail(const Call& call) {
    try {
        throw;
    } catch (const Error& error) {
        fail(call, error);
    } catch (const std::exception& error) {
        fail(call, error.what());
    } catch (...) {
        fail(call, "an error of unknown kind");
    }
}

void fail_no_context(const Call& call) {
    if (front.job && call.ctx == SHMEM_CTX_INVALID) fail(call, "ctx: SHMEM_CTX_INVALID was passed.");
    if (front.job && call.ctx != SHMEM_CTX_DEFAULT && !contexts.find(call.ctx))
        fail(call, "ctx: " + handle_text(call.ctx) +
                       " is not a context; pass one from shmem_ctx_create or shmem_team_create_ctx.");
    if (front.job)
        fail(call, "ctx: this context was destroyed, or its team was; create another, or destroy it later.");
    const bool nvidia = is_of_nvshmem(call);
    fail(call, std::string(nvidia ? "NVSHMEM" : "OpenSHMEM") + " is not initialized in this process; call " +
                   (nvidia ? "nvshmem" : "shmem") + "_init first, and nothing after the last " +
                   (nvidia ? "nvshmem" : "shmem") + "_finalize.");
}

const Context& made_context(Call call) {
    const ContextObject* object = contexts.find(call.ctx);
    if (!object || !object->context) [[unlikely]]
        fail_no_context(call);
    return object->context;
}

int status_of(const Call& call, const Error& error, bool is_mistake, int number) {
    remember_error(call, sentence_of(call, error).c_str());
    // After a mismatch the members of the team are out of step, and few programs check a status.
    const bool is_end = error.code() == ErrorCode::pe_died || error.code() == ErrorCode::timeout ||
                        error.code() == ErrorCode::collective_mismatch;
    if (is_end || (is_mistake && is_checked())) fail(call, error);
    const int status = number != 0 ? number : static_cast<int>(error.code());
    static std::atomic<bool> is_reported{false};
    if (!front.debug && !is_reported.exchange(true))
        common::say(who() + last_error + " The call returned status " + std::to_string(status) +
                    in_words_of(call, "; SHMEM_DEBUG=1 reports all of them."));
    return status;
}

bool open_front(const Call& call, const std::function<JobOptions()>& make_options) {
    try {
        open_front(make_options());
        return true;
    } catch (const Error& error) {
        const ErrorCode code = error.code();
        if (code != ErrorCode::settings && code != ErrorCode::bootstrap &&
            code != ErrorCode::invalid_argument)
            fail(call, error.what());
        remember_error(call, error.what());
        if (!front.debug) common::say(std::string(call.name) + ": " + error.what());
        return false;
    }
}

namespace {

void throw_if_failed(const char* name, int status) {
    if (status != 0)
        throw Error(ErrorCode::bootstrap,
                    "the " + std::string(name) + " that was passed returned " + std::to_string(status) + ".");
}

JobOptions callback_options(int my_pe, int n_pes, const shmemx_callbacks_t* functions) {
    if (init_count > 0)
        throw Error(ErrorCode::invalid_argument,
                    "this process is in a job already; call this in place of shmem_init, once.");
    if (!functions || !functions->allgather)
        throw Error(ErrorCode::invalid_argument, "callbacks: allgather is needed, NULL was passed.");
    const shmemx_callbacks_t given = *functions;
    JobOptions options = job_options();
    options.pe = my_pe;
    options.n_pes = n_pes;
    JobOptions::Callbacks& callbacks = options.callbacks.emplace();
    callbacks.allgather = [given](const void* mine, std::size_t bytes, void* all) {
        throw_if_failed("allgather", given.allgather(mine, bytes, all, given.user));
    };
    if (given.barrier) callbacks.barrier = [given] { throw_if_failed("barrier", given.barrier(given.user)); };
    if (given.abort)
        callbacks.abort = [given](int status, const std::string& sentence) {
            given.abort(status, sentence.c_str(), given.user);
        };
    return options;
}

}  // namespace

void init() {
    guarded({"shmem_init", SHMEM_CTX_INVALID}, [] { open_front(); });
}

int init_thread(int requested, int* provided) {
    const Call call{"shmem_init_thread", SHMEM_CTX_INVALID};
    const auto options = [&] {
        if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE)
            throw Mistake(
                ErrorCode::invalid_argument, "requested",
                std::to_string(requested) +
                    " is not a thread level; pass SHMEM_THREAD_SINGLE, FUNNELED, SERIALIZED or MULTIPLE.");
        return job_options();
    };
    if (!open_front(call, options)) return 1;
    // All of Atoll is thread-safe, so every level is available. Keeps the highest requested one.
    thread_level = std::max(thread_level, requested);
    if (provided) *provided = thread_level;
    return 0;
}

int init_callbacks(int my_pe, int n_pes, const shmemx_callbacks_t* callbacks) {
    const Call call{"shmemx_init_callbacks", SHMEM_CTX_INVALID};
    const auto options = [&] { return callback_options(my_pe, n_pes, callbacks); };
    return open_front(call, options) ? 0 : 1;
}

void query_thread(int* provided) {
    require({"shmem_query_thread", SHMEM_CTX_INVALID}, "provided", provided);
    *provided = thread_level;
}
void query_initialized(int* initialized) {
    require({"shmem_query_initialized", SHMEM_CTX_INVALID}, "initialized", initialized);
    *initialized = init_count > 0 ? 1 : 0;
}

void finalize() {
    const Call call{"shmem_finalize", SHMEM_CTX_INVALID};
    if (init_count == 0) fail(call, "it was called more often than shmem_init.");
    guarded(call, [] { close_front(); });
}

void global_exit(int status) {
    leave_if_over(front.job);
    std::fflush(nullptr);
    if (front.job) front.job->global_exit(status);
    std::_Exit(status);
}

void start_pes(int) {
    if (init_count > 0) return;
    init();
    // Follows OpenSHMEM 1.0: such a program has no finalize; its exit is one.
    std::atexit([] {
        if (init_count > 0) finalize();
    });
}

int my_pe() { return context_of({"shmem_my_pe", SHMEM_CTX_DEFAULT}).my_pe(); }
int n_pes() { return context_of({"shmem_n_pes", SHMEM_CTX_DEFAULT}).n_pes(); }

int pe_accessible(int pe) { return pe >= 0 && pe < n_pes() ? 1 : 0; }

int addr_accessible(const void* address, int pe) {
    return pe_accessible(pe) &&
                   context_of({"shmem_addr_accessible", SHMEM_CTX_DEFAULT}).window().holds(address, 1)
               ? 1
               : 0;
}

void* ptr(const void* dest, int pe) { return team_ptr(SHMEM_TEAM_WORLD, dest, pe); }

void* team_ptr(shmem_team_t team, const void* dest, int pe) {
    return guarded({"shmem_team_ptr", SHMEM_CTX_DEFAULT}, [&]() -> void* {
        if (!is_usable(team)) return nullptr;
        const Context& context = team_of(team).context();
        if (pe < 0 || pe >= context.n_pes() || !context.window().holds(dest, 1)) return nullptr;
        return const_cast<char*>(context.ptr(static_cast<const char*>(dest), pe));
    });
}

void info_get_version(int* major, int* minor) {
    const Call call{"shmem_info_get_version", SHMEM_CTX_INVALID};
    require(call, "major", major);
    require(call, "minor", minor);
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
void info_get_name(char* name) {
    require({"shmem_info_get_name", SHMEM_CTX_INVALID}, "name", name);
    std::strncpy(name, SHMEM_VENDOR_STRING, SHMEM_MAX_NAME_LEN);
}
void pcontrol(int) {}

}  // namespace atl::shmem
