// StartWaits: marks waits that are part of a start. ATOLL_INIT_TIMEOUT bounds these, ATOLL_WAIT_TIMEOUT all
// others.
#pragma once

#include <atomic>
#include <thread>

namespace atl::core {

/// A PE's start. It belongs to one thread: others of the PE may wait for something else meanwhile.
class StartWaits {
  public:
    /// Makes all waits of the constructing thread part of a start, for its lifetime.
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

    /// True if a StartWatch bounds the start. No wait of the start is bounded then, since the watch's report
    /// is more specific. Used by the starting thread only.
    bool are_watched() const noexcept { return watched_; }
    void set_watched(bool watched) noexcept { watched_ = watched; }

  private:
    static std::thread::id this_thread() noexcept { return std::this_thread::get_id(); }

    std::atomic<std::thread::id> thread_{};  ///< one thread at a time: starts are collective
    bool watched_ = false;
};

}  // namespace atl::core
