// JobWaits: the waits of a PE's threads, and the end of the job, which ends them.
#pragma once

#include "core/job/start_waits.hpp"

#include <atomic>

namespace atl::core {

/// The count of waiting threads and `is_over` are ordered, so that the end misses no wait.
class JobWaits {
  public:
    void enter() noexcept { waiting_.fetch_add(1, std::memory_order_seq_cst); }
    void leave() noexcept { waiting_.fetch_sub(1, std::memory_order_seq_cst); }
    /// True after finalize while threads of this PE still wait. They find is_over() and stop, and use the job
    /// until then.
    bool are_left() const noexcept { return waiting_.load(std::memory_order_seq_cst) != 0; }
    bool is_over() const noexcept { return over_.load(std::memory_order_seq_cst); }
    void end() noexcept { over_.store(true, std::memory_order_seq_cst); }
    /// Waits of init and of the opening of GPUs.
    StartWaits at_start;

  private:
    std::atomic<bool> over_{false};
    std::atomic<int> waiting_{0};
};

}  // namespace atl::core
