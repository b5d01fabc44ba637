// A thread that serves other PEs while the program makes no call.
#pragma once

#include "common/quiet_thread.hpp"
#include "transport/ucx/engine.hpp"

#include <atomic>

namespace atl::transport::ucx {

/// Checks periodically whether the program itself drives the worker. If it does not, the thread takes over
/// and sleeps until UCX has an event.
class ProgressThread {
  public:
    explicit ProgressThread(Engine& engine) : engine_(engine), thread_([this] { run(); }) {}
    ~ProgressThread() { stop_.signal(); }
    ProgressThread(const ProgressThread&) = delete;
    ProgressThread& operator=(const ProgressThread&) = delete;

    /// Asks the thread to end; the destructor joins it.
    void stop() noexcept { stop_.signal(); }
    /// Records that the program drives the worker. Costs one store.
    void note() noexcept {
        turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    /// Records that a caller sleeps on the worker's events itself.
    void enter_sleep() noexcept { sleepers_.fetch_add(1, std::memory_order_relaxed); }
    void leave_sleep() noexcept { sleepers_.fetch_sub(1, std::memory_order_relaxed); }

  private:
    void run();
    /// Sleeps; false if the thread is to stop.
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
