// How every wait of the library goes: spin, then yield, then sleep; bounded if asked; and always able to say
// what it waits for. The spin is inlined, the rest is out of line.
#pragma once

#include "atoll/detail/memory_ops.hpp"
#include "atoll/detail/window.hpp"
#include "atoll/types.hpp"

#include <atomic>
#include <cstdint>

namespace atl::core {
class JobState;
}

namespace atl::detail {

/// A word of the library's own that PEs wait for: the flag, and how many sleep on it (futex).
struct alignas(8) Flag {
    std::atomic<std::uint32_t> value{0};
    std::atomic<std::uint32_t> sleepers{0};
};

/// Epochs are monotonic and wrap: `a` has reached `b`.
constexpr bool reached(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<std::int32_t>(a - b) >= 0;
}

/// Names a wait for people. `peer` is a world PE, -1 when any may end the wait.
struct WaitReason {
    const char* operation = "";
    int team = 0;
    int peer = -1;
    const void* word = nullptr;   ///< symmetric word, null for the library's own
    const void* value = nullptr;  ///< what was found last, where the word itself cannot be loaded (GPUs)
    std::uint8_t word_bytes = 0;  ///< 0 = no value to show
    bool word_signed = false;
    std::uint64_t expected = 0;
    Compare compare = Compare::eq;
    /// Tells which world PEs are still missing when several are waited for: fills `pes`, returns how many.
    /// May be null.
    int (*missing)(const void* argument, int* pes, int most) = nullptr;
    const void* argument = nullptr;
    const char* missing_as = "still missing";  ///< what these are, for people
    /// Called with `argument` before every sleep; may throw Error. `hook_state` is what the front's hook gave
    /// when the wait turned slow. May be null.
    void (*look)(const void* argument, void* hook_state) = nullptr;
    bool to_its_end = false;  ///< no timeout and no interrupt ends this wait, only the end of the job
};

/// The slow part of a wait. Constructed after the spin; `pause()` yields, sleeps, publishes the reason on the
/// job board, and throws Error: timeout, pe_died, interrupted.
class ATOLL_API SlowWait {
  public:
    /// `timeout_s` < 0: the job's ATOLL_WAIT_TIMEOUT, or ATOLL_INIT_TIMEOUT while this thread starts the job
    /// or opens its GPU; 0 there: none.
    SlowWait(core::JobState& job, const WaitReason& reason, double timeout_s);
    ~SlowWait();
    SlowWait(const SlowWait&) = delete;
    SlowWait& operator=(const SlowWait&) = delete;

    /// For words that users write: nobody wakes the sleeper, so sleeps are short and timed.
    void pause();
    /// For the library's own flags: sleeps in futex until the value is no longer `seen`.
    void pause_on(Flag& flag, std::uint32_t seen);
    /// For words with another way to tell who sleeps: false after a mere yield, true when the caller shall
    /// mark itself as asleep, look once more, and call `sleep_on`, which returns when woken, when the word is
    /// not `seen`, or in between.
    bool must_sleep();
    void sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen);
    /// Throws if the job is over, somebody needed is gone, or time is up. `pause` calls it; so do loops that
    /// poll themselves.
    void check();

  private:
    void bound_by(double timeout_s);
    bool yielded();
    std::uint64_t until_deadline(std::uint64_t sleep_ns) const;
    void publish();
    std::uint64_t current_value() const;
    [[noreturn]] void fail_timeout();
    void check_gone();
    void look_for_dead();

    core::JobState& job_;
    const WaitReason& reason_;
    std::uint64_t start_ns_;
    std::uint64_t deadline_ns_ = 0;   ///< 0 = none
    const char* variable_ = nullptr;  ///< that the bound is from; null: the call's own
    bool starts_ = false;             ///< a wait of the start
    std::uint64_t last_poll_ns_ = 0;
    /// When a PE that this wait needs was first seen to have ended; 0: none was.
    std::uint64_t gone_since_ns_ = 0;
    int round_ = 0;
    int sleeps_ = 0;
    unsigned moves_ = 0;  ///< how often the transport had something to do
    bool published_ = false;
    void* hook_state_ = nullptr;
    bool hooked_ = false;
};

inline constexpr int tight_spins = 64;

/// Spins `spins` times, then waits slowly, until `ready()`.
template <class Ready>
void wait(core::JobState& job, int spins, const WaitReason& reason, double timeout_s, Ready&& ready) {
    for (int i = 0; i < spins; ++i) {
        if (ready()) return;
        if (i >= tight_spins) cpu_pause();  // a pause costs more than a flag takes from core to core
    }
    if (ready()) return;
    SlowWait slow(job, reason, timeout_s);
    while (!ready()) slow.pause();
}

}  // namespace atl::detail
