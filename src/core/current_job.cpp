// The process's current job: the one place where the library keeps global state, for fronts that pass no object.
#include "atoll/job.hpp"

#include <atomic>
#include <memory>
#include <mutex>

namespace atl {

namespace {
std::mutex mutex;
std::unique_ptr<Job> owned;
std::atomic<Job*> current{nullptr};
int count = 0;
}  // namespace

Job& init(const JobOptions& options) {
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
                    "finalize was called more often than init; each init needs one finalize, the last one ends the job.");
    if (count == 1) owned->finalize();
    if (--count == 0) {
        current.store(nullptr, std::memory_order_release);
        owned.reset();
    }
}

bool is_initialized() noexcept { return current.load(std::memory_order_acquire) != nullptr; }

Job& current_job() {
    Job* job = current.load(std::memory_order_acquire);
    if (!job)
        throw Error(ErrorCode::not_initialized,
                    "Atoll is not initialized in this process: call atoll::init() (atoll.init() in Python) first, and nothing "
                    "after the last finalize().");
    return *job;
}

}  // namespace atl
