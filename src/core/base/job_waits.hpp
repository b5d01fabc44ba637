// JobWaits: the waits of a PE's threads, and the end of the job, which ends them.
#pragma once

#include "common/yield_policy.hpp"
#include "core/base/start_waits.hpp"
#include "core/hang/hang_watch.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace atl::core {

/// An object that uses the job's memory and may outlive the job, such as started collectives.
class EndsWithJob {
  public:
    virtual ~EndsWithJob() = default;
    /// Called when the job ends, before its memory goes. The object must not use the job afterwards.
    virtual void end_with_job() noexcept = 0;
};

/// The count of waiting threads and `is_over` are ordered, so that the end misses no wait.
class JobWaits {
  public:
    void enter() noexcept { waiting_.fetch_add(1, std::memory_order_seq_cst); }
    void leave() noexcept { waiting_.fetch_sub(1, std::memory_order_seq_cst); }
    /// Keeps the job's state past finalize: threads are within calls other than waits, and use it until they
    /// return.
    void keep() noexcept { is_kept_.store(true, std::memory_order_relaxed); }
    /// True after finalize while threads of this PE still use the job. Those that wait find is_over() and
    /// stop.
    bool are_left() const noexcept {
        return waiting_.load(std::memory_order_seq_cst) != 0 || is_kept_.load(std::memory_order_relaxed);
    }
    bool is_over() const noexcept { return over_.load(std::memory_order_seq_cst); }
    void end() noexcept;
    /// Calls the registered objects. A part of `end` that may come before it.
    void end_requests() noexcept;
    /// Registers an object; `end_requests` calls it unless it was destroyed before.
    void add(std::weak_ptr<EndsWithJob> one);
    /// The wait (WaitOnBoard) that the job board shows for this PE; null: none.
    std::atomic<const void*> shown{nullptr};
    /// Waits of init and of the opening of GPUs.
    StartWaits at_start;
    common::YieldPolicy yields;
    HangWatch hang_watch;

  private:
    std::atomic<bool> over_{false};
    std::atomic<bool> is_kept_{false};
    std::atomic<int> waiting_{0};
    std::mutex mutex_;  // guards the next one
    std::vector<std::weak_ptr<EndsWithJob>> end_with_job_;
};

}  // namespace atl::core
