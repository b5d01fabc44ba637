// What a language front does around a wait that turns slow: Python releases the GIL and looks for Ctrl-C.
#pragma once

#include "atoll/export.hpp"

#include <string>

namespace atl::common {

struct WaitHooks {
    /// Called once a wait turns slow; what it returns goes to the two others.
    void* (*enter)() = nullptr;
    void (*leave)(void* state) = nullptr;
    /// Polled about every 50 ms; true makes the wait throw Error(interrupted).
    bool (*interrupted)(void* state) = nullptr;
    /// What users call the memory at an address, such as "the int64 array of shape (8,) allocated at
    /// ring.py:12"; empty where the front knows no name. Called by a thread that waits, or gave up waiting.
    /// May be null.
    std::string (*name)(const void* address) = nullptr;
    /// "program.py:12": where the front's own code called the library; empty where it cannot tell. `state` is
    /// null outside a wait that is slow.
    std::string (*call_site)(void* state) = nullptr;
    /// The front says of which dtype the elements are that its collectives move (core/elements.hpp).
    bool names_dtypes = false;
};

/// For the whole process; set before the first job is made. The first three or none.
ATOLL_API void set_wait_hooks(const WaitHooks& hooks) noexcept;
const WaitHooks& wait_hooks() noexcept;

/// From the moment in which a wait turns slow to its end.
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
