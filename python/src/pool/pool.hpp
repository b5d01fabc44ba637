// Checks that tensors of a pool (atoll.torch.Pool) have equal offsets on all PEs. An operation checks a block
// when it first uses it with a PE. It reads that PE's table, without that PE's participation.
#pragma once

#include "calls/state.hpp"

#include <atomic>

namespace atl::python {

/// The addresses from the first to the last slab; 0 bytes without slabs.
struct PoolRange {
    std::atomic<std::uintptr_t> low = 0;
    std::atomic<std::uintptr_t> bytes = 0;
};
extern PoolRange pool_range;

[[gnu::cold]] void check_pool_block_slow(const Spec& spec, const char* which, const void* address,
                                         const Context& ctx, int pe);

/// Throws NotSymmetric if `pe` of the context's team has another block of the pool at `address`. If that PE
/// has made fewer blocks than this one, the check is postponed. An invalid `pe` is left to the operation,
/// which reports it.
inline void check_pool_block(const Spec& spec, const char* which, const void* address, const Context& ctx,
                             int pe) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - pool_range.low.load(std::memory_order_relaxed);
    if (offset < pool_range.bytes.load(std::memory_order_relaxed)) [[unlikely]]
        check_pool_block_slow(spec, which, address, ctx, pe);
}

/// Checks against the next member, for collectives: together the members compare all PEs in a ring.
inline void check_pool_block_of_next(const Spec& spec, const char* which, const void* address,
                                     const Team& team) {
    check_pool_block(spec, which, address, team.context(), (team.my_pe() + 1) % team.n_pes());
}

[[gnu::cold]] void check_use_slow(const Spec& spec, const Team& team, const void* dst, const void* src,
                                  std::size_t bytes);

/// Checks a collective on GPU arrays, which uses both arrays on every PE. Throws NotSymmetric if the next or
/// previous member has entered other offsets for the same collective. The later of two members sees the
/// other's entry.
inline void check_use(const Spec& spec, const Team& team, const void* dst, const void* src,
                      std::size_t bytes) {
    const std::uintptr_t low = pool_range.low.load(std::memory_order_relaxed),
                         all = pool_range.bytes.load(std::memory_order_relaxed);
    const auto is_in = [&](const void* array) { return reinterpret_cast<std::uintptr_t>(array) - low < all; };
    if (is_in(dst) || is_in(src)) [[unlikely]]
        check_use_slow(spec, team, dst, src, bytes);
}

/// Call at the end of a job: forgets slabs and tables, whose addresses the next job may reuse.
void forget_pool_tables();

}  // namespace atl::python
