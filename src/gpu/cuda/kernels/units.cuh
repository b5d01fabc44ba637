// Loads and stores of 16 bytes at any alignment, of which the last may be incomplete, and words that carry
// flags.
#pragma once

#include "gpu/cuda/kernels/fold.cuh"

namespace atl::kernels {

/// Bypasses the first-level cache, because other PEs write this memory.
__device__ inline Unit load_unit(const void* from) {
    Unit u;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(u.words[0]), "=r"(u.words[1]), "=r"(u.words[2]), "=r"(u.words[3])
                 : "l"(from)
                 : "memory");
    return u;
}
__device__ inline void store_unit(void* to, const Unit& unit) { *static_cast<Unit*>(to) = unit; }

/// Loads up to 16 of `bytes` from any address; the rest is 0. All loads are in flight before the first wait.
__device__ inline Unit load_part(const char* from, unsigned long long bytes) {
    const auto address = reinterpret_cast<unsigned long long>(from);
    if (bytes >= sizeof(Unit) && address % sizeof(Unit) == 0) return load_unit(from);
    Unit u{};
    unsigned i = 0;
    if (address % 4 == 0) {
#pragma unroll
        for (unsigned w = 0; w < 4; ++w)
            if (4 * w + 4 <= bytes) u.words[w] = reinterpret_cast<const volatile unsigned*>(from)[w];
        i = bytes >= sizeof(Unit) ? sizeof(Unit) : static_cast<unsigned>(bytes) / 4 * 4;
    }
    for (; i < sizeof(Unit) && i < bytes; ++i)
        u.words[i / 4] |= static_cast<unsigned>(reinterpret_cast<const volatile unsigned char*>(from)[i])
                          << (i % 4 * 8);
    return u;
}
__device__ inline void store_part(char* to, unsigned long long bytes, const Unit& unit) {
    const auto address = reinterpret_cast<unsigned long long>(to);
    if (bytes >= sizeof(Unit) && address % sizeof(Unit) == 0) return store_unit(to, unit);
    unsigned i = 0;
    if (address % 4 == 0) {
#pragma unroll
        for (unsigned w = 0; w < 4; ++w)
            if (4 * w + 4 <= bytes) reinterpret_cast<unsigned*>(to)[w] = unit.words[w];
        i = bytes >= sizeof(Unit) ? sizeof(Unit) : static_cast<unsigned>(bytes) / 4 * 4;
    }
    for (; i < sizeof(Unit) && i < bytes; ++i) to[i] = static_cast<char>(unit.words[i / 4] >> (i % 4 * 8));
}

__device__ inline unsigned long long half_of(const Unit& u, unsigned k) {
    return u.words[2 * k] | static_cast<unsigned long long>(u.words[2 * k + 1]) << 32;
}
/// Stores 16 bytes as four flagged words of 8 bytes. Each is stored atomically, so no fence is needed.
__device__ inline void post(char* at, const Unit& u, unsigned flag) {
    auto* pairs = reinterpret_cast<device::FlaggedPair*>(at);
    for (unsigned k = 0; k < 2; ++k) device::detail::store_flagged(pairs + k, half_of(u, k), flag);
}
__device__ inline bool arrived(const char* at, Unit& u, unsigned flag) {
    const auto* pairs = reinterpret_cast<const device::FlaggedPair*>(at);
    unsigned long long data[2];
    const bool first = device::detail::load_flagged(pairs, flag, data[0]);
    const bool second = device::detail::load_flagged(pairs + 1, flag, data[1]);
    for (unsigned k = 0; k < 4; ++k) u.words[k] = static_cast<unsigned>(data[k / 2] >> (k % 2 * 32));
    return first && second;
}

}  // namespace atl::kernels
