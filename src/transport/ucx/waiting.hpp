// Waits of callers for UCX's messages. Coordinates with the progress thread, which then need not drive the
// worker.
#pragma once

#include "common/yield_policy.hpp"
#include "transport/ucx/progress_thread.hpp"

#include <memory>
#include <mutex>

namespace atl::transport::ucx {

using Lock = std::unique_lock<std::mutex>;  ///< lock of Engine::mutex()

class Waiting {
  public:
    Waiting(Engine& engine, bool with_thread)
        : engine_(engine), thread_(with_thread ? std::make_unique<ProgressThread>(engine) : nullptr) {}
    ~Waiting() = default;
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    /// Waits until `ready()`, which is called with the lock held. The lock is held on return. Throws
    /// Error(pe_died, not_initialized), possibly without the lock.
    template <class Ready> void until(Lock& lock, const char* operation, int pe, Ready&& ready);
    /// Sleeps like Transport::sleep.
    void sleep(std::uint64_t ns, int also);
    /// Records that the program drives the worker. Costs one store.
    void note() noexcept {
        if (thread_) thread_->note();
    }
    void stop() noexcept {
        if (thread_) thread_->stop();
    }
    /// Call in a forked child, which has no such thread.
    void forget() noexcept { static_cast<void>(thread_.release()); }

  private:
    /// The polls before an operation's wait turns slow. Only the first `polls_alone` keep the core, because
    /// the PE that is to answer may need it.
    static constexpr int polls = 150, polls_alone = 1;

    Engine& engine_;
    std::unique_ptr<ProgressThread> thread_;
    common::YieldPolicy yields_;
};

template <class Ready> void Waiting::until(Lock& lock, const char* operation, int pe, Ready&& ready) {
    const Peer& peer = engine_.peer(pe);
    bool yields = true;
    for (int idle = 0; yields && idle < polls; ++idle) {
        if (ready()) return;
        engine_.check(peer);
        note();
        if (engine_.progress()) {
            idle = 0;
            continue;
        }
        lock.unlock();
        if (idle == polls_alone) yields = yields_.allows();
        if (yields && idle > polls_alone) yields = yields_.yield();
        lock.lock();
    }
    lock.unlock();
    engine_.options().wait(operation, pe, [&] {
        const Lock inner(engine_.mutex());
        engine_.progress();
        if (ready()) return true;
        engine_.check(peer);
        return false;
    });
    lock.lock();
}

}  // namespace atl::transport::ucx
