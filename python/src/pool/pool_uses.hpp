// Offsets of a pool's tensors in the collectives of this PE, in its host heap, for other PEs to read. PyTorch
// divides the pool's segments (pool_table.hpp) itself. A difference in that division is visible only when
// collectives use tensors.
#pragma once

#include "atoll/context.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

namespace atl::python {

struct PoolUse {
    std::uint64_t team,
        number;  ///< members call their team alike; its collectives on tensors of the pool, from 1
    std::uint64_t operation, bytes;
    std::uint64_t dst, src;  ///< offsets in the slab plus 1; 0: not in the pool
    friend bool operator==(const PoolUse&, const PoolUse&) = default;
    friend bool operator<(const PoolUse& a, const PoolUse& b) { return a.words() < b.words(); }

  private:
    std::array<std::uint64_t, 6> words() const { return {team, number, operation, bytes, dst, src}; }
};

class PoolUses {
  public:
    static constexpr std::size_t entries = 512;
    static constexpr std::size_t bytes = entries * sizeof(PoolUse);

    PoolUses() = default;
    /// A table in `bytes` of zeros in the host heap, at the same offset on all PEs.
    explicit PoolUses(void* memory) noexcept : uses_(static_cast<PoolUse*>(memory)) {}

    void enter(const PoolUse& use) const noexcept {
        PoolUse& entry = *at(use);
        std::atomic_ref(entry.number).store(0, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        const std::uint64_t from[] = {use.team, use.operation, use.bytes, use.dst, use.src};
        std::uint64_t* const to[] = {&entry.team, &entry.operation, &entry.bytes, &entry.dst, &entry.src};
        for (std::size_t i = 0; i < std::size(to); ++i)
            std::atomic_ref(*to[i]).store(from[i], std::memory_order_relaxed);
        std::atomic_ref(entry.number).store(use.number, std::memory_order_release);
        // If two PEs enter and then read each other's entry, at least one of them sees the other's.
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    /// Reads the entry of `pe` for the same team and number. Empty if that PE has not reached it, or has
    /// overwritten it.
    std::optional<PoolUse> read(const Context& ctx, const PoolUse& mine, int pe) const {
        PoolUse seen{}, again{};
        ctx.get_bytes(&seen, at(mine), sizeof seen, pe);
        std::atomic_thread_fence(std::memory_order_acquire);
        ctx.get_bytes(&again, at(mine), sizeof again, pe);
        if (seen != again || seen.team != mine.team || seen.number != mine.number) return std::nullopt;
        return seen;
    }

  private:
    PoolUse* at(const PoolUse& use) const noexcept { return uses_ + (use.team + use.number) % entries; }

    PoolUse* uses_ = nullptr;
};

}  // namespace atl::python
