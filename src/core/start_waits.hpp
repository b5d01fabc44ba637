// Which waits are part of a start: ATOLL_INIT_TIMEOUT bounds these, ATOLL_WAIT_TIMEOUT all others.
#pragma once

#include <atomic>
#include <thread>

namespace atl::core {

/// A PE's own. By thread: others of the PE may wait at that time for something else.
class StartWaits {
  public:
    /// While it lives, what the thread that made it waits for is part of a start.
    class Scope {
      public:
        explicit Scope(StartWaits& waits) : waits_(waits), outer_(waits.thread_.exchange(this_thread())) {}
        ~Scope() { waits_.thread_.store(outer_); }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        StartWaits& waits_;
        std::thread::id outer_;
    };

    bool are_this_threads() const noexcept { return thread_.load() == this_thread(); }

    /// Whether a StartWatch ends a start that takes too long, whose sentence says more than a wait's: then no
    /// wait of the start is bounded. The starting thread's to ask and to set.
    bool are_watched() const noexcept { return watched_; }
    void set_watched(bool watched) noexcept { watched_ = watched; }

  private:
    static std::thread::id this_thread() noexcept { return std::this_thread::get_id(); }

    std::atomic<std::thread::id> thread_{};  ///< of one at a time: starts are collective
    bool watched_ = false;
};

}  // namespace atl::core
