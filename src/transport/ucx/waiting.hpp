// How callers wait for what UCX brings, and who looks after the worker meanwhile.
#pragma once

#include "transport/ucx/progress_thread.hpp"

#include <sched.h>

#include <memory>
#include <mutex>

namespace atl::transport::ucx {

using Lock = std::unique_lock<std::mutex>;  ///< of Engine::mutex()

class Waiting {
  public:
    Waiting(Engine& engine, bool with_thread)
        : engine_(engine), thread_(with_thread ? std::make_unique<ProgressThread>(engine) : nullptr) {}
    ~Waiting() = default;
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

    /// `ready` is called with the lock held, which is held on return. Throws Error(pe_died, not_initialized),
    /// then perhaps without it.
    template <class Ready> void until(Lock& lock, const char* operation, int pe, Ready&& ready);
    /// As Transport::sleep.
    void sleep(std::uint64_t ns);
    /// The program is at the worker itself. Costs one store.
    void note() noexcept {
        if (thread_) thread_->note();
    }
    void stop() noexcept {
        if (thread_) thread_->stop();
    }
    /// In a forked child, which has no such thread.
    void forget() noexcept { static_cast<void>(thread_.release()); }

  private:
    /// Looks before a wait of an operation turns slow, and of these such that give way to nobody: the PE that
    /// is to answer may need this core.
    static constexpr int looks = 150, looks_alone = 1;

    Engine& engine_;
    std::unique_ptr<ProgressThread> thread_;
};

template <class Ready> void Waiting::until(Lock& lock, const char* operation, int pe, Ready&& ready) {
    const Peer& peer = engine_.peer(pe);
    for (int idle = 0; idle < looks; ++idle) {
        if (ready()) return;
        engine_.check(peer);
        note();
        if (engine_.progress()) {
            idle = 0;
            continue;
        }
        lock.unlock();
        if (idle > looks_alone) ::sched_yield();
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
