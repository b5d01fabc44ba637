// What a language front does around a wait that turns slow: Python releases the GIL and looks for Ctrl-C.
#pragma once

#include "atoll/export.hpp"

namespace atl::core {

struct WaitHooks {
    /// Called once a wait turns slow; what it returns goes to the two others.
    void* (*enter)() = nullptr;
    void (*leave)(void* state) = nullptr;
    /// Polled about every 50 ms; true makes the wait throw Error(interrupted).
    bool (*interrupted)(void* state) = nullptr;
};

/// For the whole process; set before the first job is made. All three or none.
ATOLL_API void set_wait_hooks(const WaitHooks& hooks) noexcept;
const WaitHooks& wait_hooks() noexcept;

}  // namespace atl::core
