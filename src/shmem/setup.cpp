// Set-up, exit and queries of OpenSHMEM's C names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "common/log.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"
#include "shmem/program.hpp"

namespace atl::shmem {

Front front;

namespace {

thread_local std::string last_error;
int init_count = 0;

void open_front(int requested) {
    JobOptions options;
    options.unchecked_by_default = true;  // C's calls check nothing unless ATOLL_CHECK says so
    const bool linked = is_linked_by_executable();
    const bool movable = !has_tsan_inside();
    options.static_data = linked && movable;
    Job& job = atl::init(options);
    if (linked && !movable && init_count == 0 && job.my_pe() == 0)
        common::warn(
            "static objects are not symmetric in a program with clang's ThreadSanitizer; use the heap, or "
            "gcc's.");
    if (init_count++ == 0) {
        front.job = &job;
        front.context = &job.context();
        front.world.team = job.world();
        front.shared.team = job.shared();
        front.thread_level = requested;
    }
}

void close_front() {
    if (init_count == 1) {
        // Shareable contexts and teams end with the library.
        front.world.contexts.clear();
        front.shared.contexts.clear();
    }
    atl::finalize();
    if (--init_count > 0) return;
    front.context = nullptr;
    front.job = nullptr;
    front.world.team = Team();
    front.shared.team = Team();
}

bool is_start_up_error(const Error& error) {
    return error.code() == ErrorCode::settings || error.code() == ErrorCode::bootstrap;
}

}  // namespace

void remember_error(const char* sentence) noexcept {
    try {
        last_error = sentence;
    } catch (...) {
        last_error.clear();
    }
}
const std::string& remembered_error() noexcept { return last_error; }

void fail(const Call& call, const std::string& sentence) {
    const std::string text = std::string(call.name) + ": " + sentence;
    common::say(text);
    if (front.job) front.job->global_exit(1, text);
    std::fflush(nullptr);
    std::_Exit(1);
}

void fail(const Call& call) {
    try {
        throw;
    } catch (const std::exception& error) {
        fail(call, error.what());
    } catch (...) {
        fail(call, "an error of unknown kind");
    }
}

void fail_not_initialized(const char* name) {
    fail({name, SHMEM_CTX_INVALID},
         "OpenSHMEM is not initialized in this process; call shmem_init first, and nothing after the last "
         "shmem_finalize.");
}

int status_of(const Call& call, const Error& error) {
    remember_error(error.what());
    if (error.code() == ErrorCode::pe_died || error.code() == ErrorCode::timeout) fail(call, error.what());
    if (front.job && front.context->window().check) fail(call, error.what());
    return static_cast<int>(error.code());
}

void init() {
    const Call call{"shmem_init", SHMEM_CTX_INVALID};
    guarded(call, [] { open_front(SHMEM_THREAD_SINGLE); });
}

int init_thread(int requested, int* provided) {
    try {
        open_front(requested);
    } catch (const Error& error) {
        if (!is_start_up_error(error)) fail({"shmem_init_thread", SHMEM_CTX_INVALID}, error.what());
        remember_error(error.what());
        common::say(std::string("shmem_init_thread: ") + error.what());
        return 1;
    }
    // All of Atoll is thread-safe, so every level is the highest.
    front.thread_level = SHMEM_THREAD_MULTIPLE;
    if (provided) *provided = SHMEM_THREAD_MULTIPLE;
    return 0;
}

void query_thread(int* provided) { *provided = front.thread_level; }
void query_initialized(int* initialized) { *initialized = init_count > 0 ? 1 : 0; }

void finalize() {
    guarded({"shmem_finalize", SHMEM_CTX_INVALID}, [] { close_front(); });
}

void global_exit(int status) {
    if (front.job) front.job->global_exit(status);
    std::fflush(nullptr);
    std::_Exit(status);
}

void start_pes(int) {
    if (init_count > 0) return;
    init();
    // As in 1.0: such a program has no finalize; its exit is one.
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
    if (team == SHMEM_TEAM_INVALID) return nullptr;
    return guarded({"shmem_ptr", SHMEM_CTX_DEFAULT}, [&]() -> void* {
        const Context& context = team_of(team).context();
        if (pe < 0 || pe >= context.n_pes() || !context.window().holds(dest, 1)) return nullptr;
        return const_cast<char*>(context.ptr(static_cast<const char*>(dest), pe));
    });
}

void info_get_version(int* major, int* minor) {
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
void info_get_name(char* name) { std::strncpy(name, SHMEM_VENDOR_STRING, SHMEM_MAX_NAME_LEN); }
void pcontrol(int) {}

}  // namespace atl::shmem
