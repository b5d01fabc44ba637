// Loads and stores of 16 bytes, of which the last may be incomplete, at any alignment; and the words that
// carry their own flags.
#pragma once

#include "cuda/kernels/fold.cuh"

namespace atl::kernels {

/// Past the first-level cache: peers write what is read here.
__device__ inline Unit load_unit(const void* from) {
    Unit u;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(u.words[0]), "=r"(u.words[1]), "=r"(u.words[2]), "=r"(u.words[3])
                 : "l"(from)
                 : "memory");
    return u;
}
__device__ inline void store_unit(void* to, const Unit& unit) { *static_cast<Unit*>(to) = unit; }

/// Up to 16 of `bytes`, from anywhere; the rest is 0. All loads are on their way before one is waited for.
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

/// 16 bytes of data as two words of {data, flag, data, flag}. Only 8-byte accesses are atomic, and each half
/// has its own flag, so nothing can tear and no fence is needed.
__device__ inline void post(char* at, const Unit& u, unsigned flag) {
    asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%2};" ::"l"(at), "r"(u.words[0]), "r"(flag),
                 "r"(u.words[1])
                 : "memory");
    asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%2};" ::"l"(at + 16), "r"(u.words[2]), "r"(flag),
                 "r"(u.words[3])
                 : "memory");
}
__device__ inline bool arrived(const char* at, Unit& u, unsigned flag) {
    unsigned f[4];
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(u.words[0]), "=r"(f[0]), "=r"(u.words[1]), "=r"(f[1])
                 : "l"(at)
                 : "memory");
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(u.words[2]), "=r"(f[2]), "=r"(u.words[3]), "=r"(f[3])
                 : "l"(at + 16)
                 : "memory");
    return f[0] == flag && f[1] == flag && f[2] == flag && f[3] == flag;
}

}  // namespace atl::kernels
