// The bound of a wait in init: ATOLL_INIT_TIMEOUT from now, or Ctrl-C.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "atoll/error.hpp"
#include "common/wait_hooks.hpp"

namespace atl::bootstrap {

/// Returns a text such as "0.5 s".
inline std::string seconds_text(double seconds) {
    char text[40];
    std::snprintf(text, sizeof text, "%g s", seconds);
    return text;
}

class Deadline {
  public:
    using Clock = std::chrono::steady_clock;

    /// No bound if `seconds` <= 0.
    explicit Deadline(double seconds)
        : never_(seconds <= 0),
          end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(std::min(seconds, 1e8)))) {}

    bool passed() const { return !never_ && Clock::now() >= end_; }
    /// The timeout for poll(2): at most `most` ms, so that the caller can check other things between two
    /// polls.
    int poll_ms(int most) const {
        if (never_) return most;
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count() + 1;
        return static_cast<int>(std::clamp<long long>(left, 0, most));
    }
    /// Throws Error(interrupted) on Ctrl-C. A wait calls this about every 100 ms or more often. From the
    /// first call to the end of the wait Python's other threads run.
    void answer_ctrl_c(const std::string& awaited) {
        if (!hooks_) hooks_ = std::make_unique<common::HookedWait>();
        if (hooks_->interrupted())
            throw Error(ErrorCode::interrupted, "Interrupted while waiting for " + awaited + ".");
    }
    Clock::time_point end() const { return never_ ? Clock::now() + std::chrono::hours(24) : end_; }

  private:
    bool never_;
    Clock::time_point end_;
    std::unique_ptr<common::HookedWait> hooks_;
};

}  // namespace atl::bootstrap
