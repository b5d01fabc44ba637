// Whether what stands at a place of a pool's slab here stands there on another PE too (atoll.torch.Pool):
// looked at when an operation first takes it for that PE, by a read of that PE's table, without its help.
#pragma once

#include "device.hpp"

#include <atomic>

namespace atl::python {

/// From the first to the last slab; 0 bytes where there is none.
struct PoolRange {
    std::atomic<std::uintptr_t> low = 0;
    std::atomic<std::uintptr_t> bytes = 0;
};
extern PoolRange pool_range;

[[gnu::cold]] void check_place_slow(const Spec& spec, const char* which, const void* address,
                                    const Context& ctx, int pe);

/// Throws NotSymmetric where `pe` of the context's team has another block of the pool at `address`, and not
/// where it has not made as many as this PE: then nothing is known yet. A `pe` that is none is for the
/// operation to refuse.
inline void check_place(const Spec& spec, const char* which, const void* address, const Context& ctx,
                        int pe) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - pool_range.low.load(std::memory_order_relaxed);
    if (offset < pool_range.bytes.load(std::memory_order_relaxed)) [[unlikely]]
        check_place_slow(spec, which, address, ctx, pe);
}

/// For collectives: with the next member, so that all are compared in a ring.
inline void check_place_of_next(const Spec& spec, const char* which, const void* address, const Team& team) {
    check_place(spec, which, address, team.context(), (team.my_pe() + 1) % team.n_pes());
}

[[gnu::cold]] void check_use_slow(const Spec& spec, const Team& team, const void* dst, const void* src,
                                  std::size_t bytes);

/// For collectives on arrays of GPUs, which take both on every PE: throws NotSymmetric where the next or the
/// previous member's stand elsewhere in the pool in the same collective, as far as it has come. Whichever of
/// two comes later sees what the other entered, without its help.
inline void check_use(const Spec& spec, const Team& team, const void* dst, const void* src,
                      std::size_t bytes) {
    const std::uintptr_t low = pool_range.low.load(std::memory_order_relaxed),
                         all = pool_range.bytes.load(std::memory_order_relaxed);
    const auto is_in = [&](const void* array) { return reinterpret_cast<std::uintptr_t>(array) - low < all; };
    if (is_in(dst) || is_in(src)) [[unlikely]]
        check_use_slow(spec, team, dst, src, bytes);
}

/// Where the job ends: its slabs and tables are nothing to the next one, which may stand at the same
/// addresses.
void forget_pool_tables();

}  // namespace atl::python
