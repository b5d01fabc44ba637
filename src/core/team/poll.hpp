// Polls of a flag between two members that have a core each.
#pragma once

#include "core/base/control_block.hpp"

namespace atl::core {

/// Polls `flag` for `spins` pauses, with `pauses` between two polls; true once it has reached `value`.
inline bool poll(const detail::Flag& flag, std::uint32_t value, int spins, int pauses) noexcept {
    // A reader that polls all the time takes the line away before its next write.
    for (; spins > 0; spins -= pauses) {
        if (detail::reached(flag.value.load(std::memory_order_acquire), value)) return true;
        for (int i = 0; i < pauses; ++i) detail::cpu_pause();
    }
    return false;
}

/// Notes the core on which this thread waits, and returns true if the member that it waits for last waited
/// there. Both then need the same core, and neither gets on while the other polls.
bool share_core(CoreLine& mine, const CoreLine& theirs) noexcept;

/// Pauses of a wait before it asks whether the awaited member needs this core. The flag of a member on
/// another core is usually set earlier.
inline constexpr int spins_before_core = 50;

}  // namespace atl::core
