// Hooks of a language front around a slow wait: Python releases the GIL and checks for Ctrl-C.
#pragma once

#include "atoll/export.hpp"

#include <string>

namespace atl::common {

struct WaitHooks {
    /// Called once a wait turns slow. Its result is passed to the two others.
    void* (*enter)() = nullptr;
    void (*leave)(void* state) = nullptr;
    /// Polled about every 50 ms; true makes the wait throw Error(interrupted).
    bool (*interrupted)(void* state) = nullptr;
    /// Returns the user's name of the memory at an address, such as "the int64 array of shape (8,) allocated
    /// at ring.py:12". Empty if the front knows no name. Called by a thread that waits, or gave up waiting.
    /// May be null.
    std::string (*name)(const void* address) = nullptr;
    /// Returns the place of the front's call of the library, such as "program.py:12". Empty if unknown.
    /// `state` is null outside a slow wait.
    std::string (*call_site)(void* state) = nullptr;
    /// The same for a thread that has released Python's GIL by other means than the front's, as PyTorch does.
    /// Skips PyTorch's own lines. Takes the GIL, so the caller holds no lock. May be null.
    std::string (*site_of_thread)() = nullptr;
    /// The front declares the dtype of its collectives' elements (core/team/elements.hpp).
    bool names_dtypes = false;
};

/// Sets the hooks of the process, before the first job is made. The first three must be set together, or not
/// at all.
ATOLL_API void set_wait_hooks(const WaitHooks& hooks) noexcept;
const WaitHooks& wait_hooks() noexcept;

/// Runs the hooks from the moment in which a wait turns slow to its end.
class HookedWait {
  public:
    HookedWait() : state_(wait_hooks().enter ? wait_hooks().enter() : nullptr) {}
    ~HookedWait() {
        if (wait_hooks().leave) wait_hooks().leave(state_);
    }
    HookedWait(const HookedWait&) = delete;
    HookedWait& operator=(const HookedWait&) = delete;

    bool interrupted() { return wait_hooks().interrupted && wait_hooks().interrupted(state_); }

  private:
    void* state_;
};

}  // namespace atl::common
