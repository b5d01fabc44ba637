// The wait used throughout the library: spin, then yield, then sleep. It can be bounded, and can always
// report what it waits for. The spin is inlined, the rest is out of line.
#pragma once

#include "atoll/detail/memory_ops.hpp"
#include "atoll/detail/window.hpp"
#include "atoll/types.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace atl::core {
class JobState;
class WaitOnBoard;
}  // namespace atl::core

namespace atl::detail {

/// A word of the library that PEs wait for: the flag, and the number of PEs that sleep on it (futex).
struct alignas(8) Flag {
    std::atomic<std::uint32_t> value{0};
    std::atomic<std::uint32_t> sleepers{0};
};

/// True if epoch `a` has reached `b`. Epochs are monotonic and wrap.
constexpr bool reached(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) >= 0;
}

/// Describes a wait for reports and errors. `peer` is a world PE, -1 if any PE may end the wait.
struct WaitReason {
    const char* operation = "";
    int team = 0;
    int peer = -1;
    const char* subject = nullptr;  ///< text of the awaited thing, in place of a word; null: none
    const void* word = nullptr;     ///< symmetric word, null for the library's own
    const void* value = nullptr;    ///< the last value found, if the host cannot load the word (GPUs)
    std::uint8_t word_bytes = 0;    ///< 0 = no value to show
    bool word_signed = false;
    bool word_floating =
        false;  ///< `expected` has the bits of a float or double; only errors show the values
    std::uint64_t expected = 0;
    Compare compare = Compare::eq;
    int tag = 0;  ///< the tag of a kernel's call, for its error; 0: none
    /// Reports the world PEs that are still missing from a wait for several: fills `pes`, returns their
    /// number. May be null.
    int (*missing)(const void* argument, int* pes, int most) = nullptr;
    const void* argument = nullptr;
    const char* missing_as = "still missing";  ///< how the report names these PEs
    /// Called with `argument` before every sleep; may throw Error. `hook_state` is the value that the front's
    /// hook returned when the wait turned slow. May be null.
    void (*check)(const void* argument, void* hook_state) = nullptr;
    bool to_its_end = false;  ///< no timeout and no interrupt ends this wait, only the end of the job
};

/// The slow part of a wait, constructed after the spin. `pause()` yields, sleeps, publishes the reason on the
/// job board, and throws Error: timeout, pe_died, interrupted.
class ATOLL_API SlowWait {
  public:
    /// A negative `timeout_s` means ATOLL_WAIT_TIMEOUT. While this thread starts the job or opens its GPU, it
    /// means ATOLL_INIT_TIMEOUT. A variable of 0 means no limit.
    SlowWait(core::JobState& job, const WaitReason& reason, double timeout_s);
    ~SlowWait();
    SlowWait(const SlowWait&) = delete;
    SlowWait& operator=(const SlowWait&) = delete;

    /// For words that users write: no store wakes the sleeper, so sleeps are short and timed.
    void pause();
    /// For the library's own flags: sleeps in a futex until the value is no longer `seen`.
    void pause_on(Flag& flag, std::uint32_t seen);
    /// For words that record their sleepers by other means. Returns false after a mere yield. When it returns
    /// true, the caller marks itself as asleep, checks once more, and calls `sleep_on`. That returns when
    /// woken or when the word is not `seen`; it may also return early.
    bool must_sleep();
    void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen);
    /// Throws if the job is over, a needed PE is gone, or the time limit has passed. Called by `pause`, and
    /// by loops that poll themselves.
    void check();
    /// Shows the wait on the job board, for loops that sleep and check themselves. Returns true if a signal
    /// handler asks to end the wait.
    bool show();

  private:
    void bound_by(double timeout_s);
    bool yielded();
    std::uint64_t until_deadline(std::uint64_t sleep_ns) const;
    void publish();
    std::uint64_t current_value() const;
    [[noreturn]] void fail_timeout();
    std::string cause_text(std::uint64_t waited_ns);
    void log(bool failed) const noexcept;
    void check_exited();

    core::JobState& job_;
    const WaitReason& reason_;
    std::uint64_t start_ns_;
    std::uint64_t deadline_ns_ = 0;   ///< 0: no limit
    const char* variable_ = nullptr;  ///< source of the limit; null: the call's own
    bool starts_ = false;             ///< true in a wait of the start
    std::uint64_t last_poll_ns_ = 0;
    /// When a PE that this wait needs was first seen to have ended; 0: not yet.
    std::uint64_t exited_since_ns_ = 0;
    int round_ = 0;
    int sleeps_ = 0;
    unsigned moves_ = 0;                        ///< number of times the transport made progress
    std::unique_ptr<core::WaitOnBoard> shown_;  ///< null until the wait is published
    int exceptions_;                            ///< in flight when the wait began
    void* hook_state_ = nullptr;
    bool hooked_ = false;
    bool is_measured_ = false;
    std::uint64_t began_ticks_ = 0;  ///< for a log
};

inline constexpr int tight_spins = 64;

/// Spins `spins` times, then waits slowly, until `ready()`.
template <class Ready>
void wait(core::JobState& job, int spins, const WaitReason& reason, double timeout_s, Ready&& ready) {
    for (int i = 0; i < spins; ++i) {
        if (ready()) return;
        if (i >= tight_spins) cpu_pause();  // a pause takes longer than a flag needs from core to core
    }
    if (ready()) return;
    SlowWait slow(job, reason, timeout_s);
    while (!ready()) slow.pause();
}

}  // namespace atl::detail
