// The process's current job: the one place where the library keeps global state, for fronts that pass no
// object.
#include "atoll/job.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace atl {

namespace {
std::mutex mutex;
std::unique_ptr<Job> owned;
/// Jobs that have ended: empty, but still asked by arrays that are destroyed after finalize(), as those of
/// main() are.
std::vector<std::unique_ptr<Job>> ended;
std::atomic<Job*> current{nullptr};
int count = 0;
int forked_from_pe = -1;

/// In a forked child: the parent stays the PE. The child's copy is leaked, since ending it would speak for
/// the parent.
void forget_in_child() {
    if (!owned) return;
    forked_from_pe = owned->my_pe();
    static_cast<void>(owned.release());
    current.store(nullptr, std::memory_order_release);
    count = 0;
    new (&mutex) std::mutex;  // another thread of the parent may have held it
}

void watch_forks() {
    // The parent takes no lock for this: finalize holds ours while it waits, and fork must not wait for that.
    static const int once = ::pthread_atfork(nullptr, nullptr, forget_in_child);
    static_cast<void>(once);
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
}  // namespace

Job& init(const JobOptions& options) {
    watch_forks();
    std::lock_guard lock(mutex);
    if (count == 0) {
        owned = std::make_unique<Job>(options);
        current.store(owned.get(), std::memory_order_release);
    }
    ++count;
    return *owned;
}

void finalize() {
    std::lock_guard lock(mutex);
    if (count == 0)
        throw Error(ErrorCode::not_initialized,
                    "finalize was called more often than init; each init needs one finalize, the last one "
                    "ends the job.");
    if (count == 1) owned->finalize();
    if (--count == 0) {
        current.store(nullptr, std::memory_order_release);
        ended.push_back(std::move(owned));
    }
}

bool is_initialized() noexcept { return current.load(std::memory_order_acquire) != nullptr; }

Job& current_job() {
    Job* job = current.load(std::memory_order_acquire);
    if (!job) throw_not_initialized();
    return *job;
}

}  // namespace atl
