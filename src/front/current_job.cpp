// The process's current job: the only global state of the library, for fronts that pass no object.
#include "atoll/job.hpp"

#include "common/wait_hooks.hpp"
#include "core/job/job_state.hpp"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace atl {

namespace {

struct Process {
    /// Guards the fields below. Never held during a wait for another PE.
    std::mutex mutex;
    std::condition_variable changed;
    /// A thread makes or ends the job, and waits for other PEs meanwhile. Further calls wait for that thread.
    bool changing = false;
    std::thread::id changer;
    int count = 0;
    std::unique_ptr<Job> owned;
    std::string unique_id;  ///< identifier of `owned`; empty if a launcher or a store connected the PEs
    /// Ended jobs: empty, but still used by arrays that are destroyed after finalize(), such as those of
    /// main().
    std::vector<std::unique_ptr<Job>> ended;
};

/// Never destroyed: threads that still wait in the job when the process ends (Python's daemon threads) read
/// it until they end.
Process& process() {
    static Process& instance = *new Process;
    return instance;
}
std::atomic<Job*> current{nullptr};
int forked_from_pe = -1;

/// Announces to the other PEs that this process ends without finalize.
struct Leaver {
    ~Leaver() {
        if (Job* job = current.load(std::memory_order_acquire)) job->state().leave();
    }
} leaver;

/// Detaches a forked child: the parent remains the PE. The child's copy is leaked, since destroying it would
/// act for the parent.
void forget_in_child() {
    Process& p = process();
    if (p.owned) {
        if (Job* job = current.load(std::memory_order_acquire)) forked_from_pe = job->my_pe();
        static_cast<void>(p.owned.release());
        current.store(nullptr, std::memory_order_release);
    }
    p.count = 0;
    // Another thread of the parent may have been in init or finalize.
    p.changing = false;
    new (&p.mutex) std::mutex;
    new (&p.changed) std::condition_variable;
}

void watch_forks() {
    static const int once = ::pthread_atfork(nullptr, nullptr, forget_in_child);
    static_cast<void>(once);
}

/// Locks the mutex once no thread is in init or finalize. This is a wait like any other: Python's other
/// threads run, and Ctrl-C works.
std::unique_lock<std::mutex> take_turn() {
    Process& p = process();
    std::unique_lock lock(p.mutex);
    while (p.changing) {
        if (p.changer == std::this_thread::get_id())
            throw Error(
                ErrorCode::invalid_argument,
                "init or finalize was called within itself, by a signal handler; set a flag there, and "
                "call it from the program.");
        lock.unlock();  // hooks may run any code
        bool stop = false;
        {
            common::HookedWait hooks;
            for (lock.lock(); p.changing && !stop; lock.lock()) {
                p.changed.wait_for(lock, std::chrono::milliseconds(50));
                lock.unlock();
                stop = hooks.interrupted();
            }
            lock.unlock();
        }
        if (stop)
            throw Error(
                ErrorCode::interrupted,
                "Interrupted while waiting for another thread of this PE that is in init or finalize.");
        lock.lock();
    }
    return lock;
}

/// Runs `change` without the mutex, while other threads' init and finalize wait.
template <class Change> void alone(std::unique_lock<std::mutex>& lock, Change&& change) {
    Process& p = process();
    p.changing = true;
    p.changer = std::this_thread::get_id();
    lock.unlock();
    const auto done = [&] {
        lock.lock();
        p.changing = false;
        p.changed.notify_all();
    };
    try {
        change();
    } catch (...) {
        done();
        throw;
    }
    done();
}

[[noreturn]] void throw_not_initialized() {
    if (forked_from_pe >= 0)
        throw Error(ErrorCode::not_initialized, "This process was forked by PE " +
                                                    std::to_string(forked_from_pe) +
                                                    " after init; only the parent is a PE. Start other "
                                                    "programs with exec (subprocess), or fork before init.");
    throw Error(ErrorCode::not_initialized,
                "Atoll is not initialized in this process: call atoll::init() (atoll.init() in Python) "
                "first, and nothing "
                "after the last finalize().");
}

/// Throws unless the options of a further init match the existing job.
void check_same_job(const Job& job, const std::string& unique_id, const JobOptions& options) {
    const std::string there =
        "this process is PE " + std::to_string(job.my_pe()) + " of " + std::to_string(job.n_pes());
    std::string asked;
    if (options.pe != -1 && options.pe != job.my_pe()) asked += ", pe " + std::to_string(options.pe);
    if (options.n_pes != -1 && options.n_pes != job.n_pes())
        asked += ", n_pes " + std::to_string(options.n_pes);
    if (!options.unique_id.empty() && options.unique_id != unique_id) asked += ", another unique id";
    if (asked.empty()) return;
    throw Error(ErrorCode::invalid_argument,
                "init was called again with arguments of another job (" + asked.substr(2) + "), but " +
                    there + ". Call it without arguments to count, or finalize the job first.");
}
}  // namespace

Job& init(const JobOptions& options) {
    watch_forks();
    Process& p = process();
    std::unique_lock turn = take_turn();
    if (p.count == 0) {
        std::unique_ptr<Job> made;
        alone(turn, [&] { made = std::make_unique<Job>(options); });
        p.owned = std::move(made);
        p.unique_id = options.unique_id;
        current.store(p.owned.get(), std::memory_order_release);
    } else {
        check_same_job(*p.owned, p.unique_id, options);
    }
    ++p.count;
    return *p.owned;
}

void finalize() {
    Process& p = process();
    std::unique_lock turn = take_turn();
    if (p.count == 0)
        throw Error(ErrorCode::not_initialized,
                    "finalize was called more often than init; each init needs one finalize, the last one "
                    "ends the job.");
    if (p.count == 1) {
        alone(turn, [&] { p.owned->finalize(); });
        current.store(nullptr, std::memory_order_release);
        p.ended.push_back(std::move(p.owned));
    }
    --p.count;
}

bool is_initialized() noexcept { return current.load(std::memory_order_acquire) != nullptr; }

Job& current_job() {
    Job* job = current.load(std::memory_order_acquire);
    if (!job) throw_not_initialized();
    return *job;
}

}  // namespace atl
