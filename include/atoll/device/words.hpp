// Loads and stores of single words that other PEs see, with a memory order, at system scope: PTX in kernels,
// compiler atomics on the host.
#pragma once

#include "atoll/device/control.hpp"

/// 1 where a fence can acquire alone, which is cheap: a full fence also waits for this thread's stores.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && \
    __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1208
#define ATOLL_ACQUIRE_FENCE 1
#else
#define ATOLL_ACQUIRE_FENCE 0
#endif

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

/// Words that PEs wait for or update have 4 or 8 bytes; the other sizes are only stored and loaded (p and g).
template <unsigned long Bytes> struct Bits;
template <> struct Bits<1> { using type = unsigned char; };
template <> struct Bits<2> { using type = unsigned short; };
template <> struct Bits<4> { using type = unsigned; };
template <> struct Bits<8> { using type = unsigned long long; };

/// True if T is stored and loaded by one access, so that it cannot tear.
template <class T> ATOLL_ANYWHERE constexpr bool is_word() {
    return sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;
}

/// A word that may alias memory of any type.
template <class U> struct ATOLL_MAY_ALIAS Raw { U word; };
/// Two 8-byte words in one access. Neither tears.
struct alignas(16) ATOLL_MAY_ALIAS Quad {
    unsigned long long words[2];
};

/// Hides a value from the optimiser of GPU compilers. Emits no instruction.
ATOLL_ANYWHERE inline void hide(int& value) {
#if defined(__CUDA_ARCH__)
    asm("" : "+r"(value));
#else
    static_cast<void>(value);
#endif
}
/// Keeps an address in a register, also where the compiler could load it again from the kernel's parameters.
template <class T> ATOLL_ANYWHERE T* hidden(T* address) {
#if defined(__CUDA_ARCH__)
    asm("" : "+l"(address));
#endif
    return address;
}
ATOLL_ANYWHERE inline void hide(long long& value) {
#if defined(__CUDA_ARCH__)
    asm("" : "+l"(value));
#else
    static_cast<void>(value);
#endif
}

/// The same bits as another type of the same size.
template <class To, class From> ATOLL_ANYWHERE To same_bits(const From& from) {
    static_assert(sizeof(To) == sizeof(From), "bits are neither lost nor made");
    To to;
#if defined(__CUDA_ARCH__)
    memcpy(&to, &from, sizeof to);  // NVRTC's builtin
#else
    __builtin_memcpy(&to, &from, sizeof to);
#endif
    return to;
}

#if defined(__CUDA_ARCH__)
__device__ inline unsigned short load_acquire(const unsigned short* p) {
    unsigned short value;
    asm volatile("ld.acquire.sys.global.u16 %0, [%1];" : "=h"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline unsigned load_acquire(const unsigned* p) {
    unsigned value;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline unsigned long long load_acquire(const unsigned long long* p) {
    unsigned long long value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline unsigned char load_relaxed(const unsigned char* p) {
    unsigned short value;
    asm volatile("ld.relaxed.sys.global.u8 %0, [%1];" : "=h"(value) : "l"(p) : "memory");
    return static_cast<unsigned char>(value);
}
__device__ inline unsigned short load_relaxed(const unsigned short* p) {
    unsigned short value;
    asm volatile("ld.relaxed.sys.global.u16 %0, [%1];" : "=h"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline unsigned load_relaxed(const unsigned* p) {
    unsigned value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline unsigned long long load_relaxed(const unsigned long long* p) {
    unsigned long long value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline void store_release(unsigned* p, unsigned value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ inline void store_release(unsigned long long* p, unsigned long long value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
__device__ inline void store_relaxed(unsigned char* p, unsigned char value) {
    asm volatile("st.relaxed.sys.global.u8 [%0], %1;" ::"l"(p), "h"(static_cast<unsigned short>(value))
                 : "memory");
}
__device__ inline void store_relaxed(unsigned short* p, unsigned short value) {
    asm volatile("st.relaxed.sys.global.u16 [%0], %1;" ::"l"(p), "h"(value) : "memory");
}
__device__ inline void store_relaxed(unsigned* p, unsigned value) {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ inline void store_relaxed(unsigned long long* p, unsigned long long value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
/// Atomic addition among the blocks of a kernel.
__device__ inline unsigned add_in_gpu(unsigned* p, unsigned value) {
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(p), "r"(value)
                 : "memory");
    return before;
}
__device__ inline unsigned load_in_gpu(const unsigned* p) {
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
#endif

}  // namespace detail

template <class T> ATOLL_ANYWHERE T load_acquire(const T* p) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "words that PEs wait for have 2, 4 or 8 bytes");
#if defined(__CUDA_ARCH__)
    using Bits = typename detail::Bits<sizeof(T)>::type;
    return detail::same_bits<T>(detail::load_acquire(reinterpret_cast<const Bits*>(p)));
#else
    T value;
    __atomic_load(const_cast<T*>(p), &value, __ATOMIC_ACQUIRE);
    return value;
#endif
}

template <class T> ATOLL_ANYWHERE T load_relaxed(const T* p) {
    static_assert(detail::is_word<T>(), "words have 1, 2, 4 or 8 bytes");
#if defined(__CUDA_ARCH__)
    using Bits = typename detail::Bits<sizeof(T)>::type;
    return detail::same_bits<T>(detail::load_relaxed(reinterpret_cast<const Bits*>(p)));
#else
    T value;
    __atomic_load(const_cast<T*>(p), &value, __ATOMIC_RELAXED);
    return value;
#endif
}

/// Loads a word that the caller polls, without order where `acquire_polled` gives it. An acquiring load
/// discards the first-level cache at each poll, and such a wait lasts longer.
template <class T> ATOLL_ANYWHERE T load_polled(const T* p) {
    static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "words that PEs wait for have 2, 4 or 8 bytes");
#if ATOLL_ACQUIRE_FENCE
    return load_relaxed(p);
#else
    return load_acquire(p);
#endif
}
/// Gives acquire order to the earlier load_polled of this thread.
ATOLL_ANYWHERE inline void acquire_polled() {
#if ATOLL_ACQUIRE_FENCE
    asm volatile("fence.acquire.sys;" ::: "memory");
#endif
}

template <class T> ATOLL_ANYWHERE void store_release(T* p, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "words that PEs wait for have 4 or 8 bytes");
#if defined(__CUDA_ARCH__)
    using Bits = typename detail::Bits<sizeof(T)>::type;
    detail::store_release(reinterpret_cast<Bits*>(p), detail::same_bits<Bits>(value));
#else
    __atomic_store(p, &value, __ATOMIC_RELEASE);
#endif
}

template <class T> ATOLL_ANYWHERE void store_relaxed(T* p, T value) {
    static_assert(detail::is_word<T>(), "words have 1, 2, 4 or 8 bytes");
#if defined(__CUDA_ARCH__)
    using Bits = typename detail::Bits<sizeof(T)>::type;
    detail::store_relaxed(reinterpret_cast<Bits*>(p), detail::same_bits<Bits>(value));
#else
    __atomic_store(p, &value, __ATOMIC_RELAXED);
#endif
}

namespace detail {

/// Stores eight bytes of data in two flagged words, by one store.
ATOLL_ANYWHERE inline void store_flagged(FlaggedPair* to, unsigned long long data, unsigned flag) {
    const unsigned long long high = static_cast<unsigned long long>(flag) << 32;
    const unsigned long long first = high | (data & 0xffffffffu), second = high | (data >> 32);
#if defined(__CUDA_ARCH__)
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(first), "l"(second)
                 : "memory");
#else
    __atomic_store_n(&to->word[0], first, __ATOMIC_RELAXED);
    __atomic_store_n(&to->word[1], second, __ATOMIC_RELAXED);
#endif
}

/// True, with the data, once both words carry `flag`.
ATOLL_ANYWHERE inline bool load_flagged(const FlaggedPair* from, unsigned flag, unsigned long long& data) {
    unsigned long long first, second;
#if defined(__CUDA_ARCH__)
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(first), "=l"(second)
                 : "l"(from)
                 : "memory");
#else
    first = __atomic_load_n(&from->word[0], __ATOMIC_RELAXED);
    second = __atomic_load_n(&from->word[1], __ATOMIC_RELAXED);
#endif
    data = (first & 0xffffffffu) | second << 32;
    return static_cast<unsigned>(first >> 32) == flag && static_cast<unsigned>(second >> 32) == flag;
}

}  // namespace detail

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
