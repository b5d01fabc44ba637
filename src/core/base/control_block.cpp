#include "core/base/control_block.hpp"

namespace atl::core {

void wake_sleepers(detail::Flag& flag) noexcept {
    // Fences between the store of the value and the load of `sleepers`. SlowWait::pause_on has the
    // counterparts.
#if defined(__SANITIZE_THREAD__)
    const std::uint32_t sleepers =
        flag.sleepers.fetch_add(0, std::memory_order_seq_cst);  // TSan does not model fences
#else
    // An exchange would take the line away from its readers.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint32_t sleepers = flag.sleepers.load(std::memory_order_relaxed);
#endif
    if (sleepers != 0) common::futex_wake_all(flag.value);
}

}  // namespace atl::core
