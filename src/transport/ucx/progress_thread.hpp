// Serves others while the program does not.
#pragma once

#include "common/quiet_thread.hpp"
#include "transport/ucx/engine.hpp"

#include <atomic>

namespace atl::transport::ucx {

/// While the program looks after the worker itself, this thread looks now and then whether it still does.
/// Once it does not, the thread takes over, asleep until UCX has an event.
class ProgressThread {
  public:
    explicit ProgressThread(Engine& engine) : engine_(engine), thread_([this] { run(); }) {}
    ~ProgressThread() { stop_.signal(); }
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

    /// It ends by itself from now on; the destructor waits for that.
    void stop() noexcept { stop_.signal(); }
    /// The program is at the worker. Costs one store.
    void note() noexcept {
        turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    /// It sleeps over the worker's events itself.
    void enter_sleep() noexcept { sleepers_.fetch_add(1, std::memory_order_relaxed); }
    void leave_sleep() noexcept { sleepers_.fetch_sub(1, std::memory_order_relaxed); }

  private:
    void run();
    /// False when it is to stop.
    bool nap() const;
    bool serve(std::uint32_t turns) const;
    bool is_attended(std::uint32_t turns) const {
        return turns_.load(std::memory_order_relaxed) != turns ||
               sleepers_.load(std::memory_order_relaxed) != 0;
    }

    Engine& engine_;
    std::atomic<std::uint32_t> turns_{0};
    std::atomic<int> sleepers_{0};
    common::Wake stop_;
    common::QuietThread thread_;  // last: it uses the others
};

}  // namespace atl::transport::ucx
