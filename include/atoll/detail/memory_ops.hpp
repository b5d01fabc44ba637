// Loads and stores into the window: puts and atomics once the address is known.
#pragma once

#include "atoll/types.hpp"

#include <cstring>

namespace atl::detail {

inline bool aligned_to(const void* p, std::size_t n) noexcept {
    return (reinterpret_cast<std::uintptr_t>(p) & (n - 1)) == 0;
}

template <class Word> bool copy_word(void* dst, const void* src) noexcept {
    if (!aligned_to(dst, sizeof(Word)) || !aligned_to(src, sizeof(Word))) return false;
    // The word may be a flag that another PE waits for. Release costs nothing on x86 and little elsewhere.
    const Word value = __atomic_load_n(static_cast<const Word*>(src), __ATOMIC_ACQUIRE);
    __atomic_store_n(static_cast<Word*>(dst), value, __ATOMIC_RELEASE);
    return true;
}

/// Copies between window and local memory, either way. Aligned words of 1, 2, 4 and 8 bytes are never torn.
/// Always inline: a compiler that weighs whole programs would pick which puts and gets have a call more.
[[gnu::always_inline]] inline void copy(void* dst, const void* src, std::size_t bytes) noexcept {
    switch (bytes) {
        case 8:
            if (copy_word<std::uint64_t>(dst, src)) return;
            break;
        case 4:
            if (copy_word<std::uint32_t>(dst, src)) return;
            break;
        case 2:
            if (copy_word<std::uint16_t>(dst, src)) return;
            break;
        case 1:
            copy_word<std::uint8_t>(dst, src);
            return;
        default:
            break;
    }
    std::memcpy(dst, src, bytes);
}

template <std::size_t Bytes> struct WordOf;
template <> struct WordOf<1> { using type = std::uint8_t; };
template <> struct WordOf<2> { using type = std::uint16_t; };
template <> struct WordOf<4> { using type = std::uint32_t; };
template <> struct WordOf<8> { using type = std::uint64_t; };
template <class T> using Word = typename WordOf<sizeof(T)>::type;

template <class T> Word<T> to_word(T value) noexcept { return __builtin_bit_cast(Word<T>, value); }
template <class T> T from_word(Word<T> word) noexcept { return __builtin_bit_cast(T, word); }

template <class T> T atomic_load(const T* p) noexcept {
    return from_word<T>(__atomic_load_n(reinterpret_cast<const Word<T>*>(p), __ATOMIC_ACQUIRE));
}
template <class T> void atomic_store(T* p, T value) noexcept {
    __atomic_store_n(reinterpret_cast<Word<T>*>(p), to_word(value), __ATOMIC_RELEASE);
}
template <class T> T atomic_exchange(T* p, T value) noexcept {
    return from_word<T>(__atomic_exchange_n(reinterpret_cast<Word<T>*>(p), to_word(value), __ATOMIC_ACQ_REL));
}
template <class T> T atomic_compare_exchange(T* p, T expected, T value) noexcept {
    Word<T> word = to_word(expected);
    __atomic_compare_exchange_n(reinterpret_cast<Word<T>*>(p), &word, to_word(value), false, __ATOMIC_ACQ_REL,
                                __ATOMIC_ACQUIRE);
    return from_word<T>(word);
}
template <class T> T atomic_add(T* p, T value) noexcept {
    if constexpr (std::is_integral_v<T>) {
        return from_word<T>(
            __atomic_fetch_add(reinterpret_cast<Word<T>*>(p), to_word(value), __ATOMIC_ACQ_REL));
    } else {
        for (T old = atomic_load(p);;) {
            const T seen = atomic_compare_exchange(p, old, static_cast<T>(old + value));
            if (to_word(seen) == to_word(old)) return old;
            old = seen;
        }
    }
}
template <class T> T atomic_and(T* p, T value) noexcept {
    return from_word<T>(__atomic_fetch_and(reinterpret_cast<Word<T>*>(p), to_word(value), __ATOMIC_ACQ_REL));
}
template <class T> T atomic_or(T* p, T value) noexcept {
    return from_word<T>(__atomic_fetch_or(reinterpret_cast<Word<T>*>(p), to_word(value), __ATOMIC_ACQ_REL));
}
template <class T> T atomic_xor(T* p, T value) noexcept {
    return from_word<T>(__atomic_fetch_xor(reinterpret_cast<Word<T>*>(p), to_word(value), __ATOMIC_ACQ_REL));
}

/// Performs one atomic on memory that this process can load and store. Returns the value before; for set, an
/// unspecified value.
template <class T> T atomic_apply(AtomicOp op, T* p, T value, T compare) noexcept {
    switch (op) {
        case AtomicOp::fetch:
            return atomic_load(p);
        case AtomicOp::set:
            atomic_store(p, value);
            return T{};
        case AtomicOp::swap:
            return atomic_exchange(p, value);
        case AtomicOp::add:
        case AtomicOp::fetch_add:
            return atomic_add(p, value);
        case AtomicOp::compare_swap:
            return atomic_compare_exchange(p, compare, value);
        default:
            break;
    }
    if constexpr (std::is_integral_v<T>) {
        switch (op) {
            case AtomicOp::bit_and:
            case AtomicOp::fetch_and:
                return atomic_and(p, value);
            case AtomicOp::bit_or:
            case AtomicOp::fetch_or:
                return atomic_or(p, value);
            default:
                return atomic_xor(p, value);
        }
    }
    return T{};
}

/// Bytes from the start of the first of `n_blocks` blocks to the end of the last; saturates.
constexpr std::size_t extent_bytes(std::ptrdiff_t stride, std::size_t block, std::size_t n_blocks,
                                   std::size_t element_bytes) noexcept {
    std::size_t span = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(stride), n_blocks - 1, &span) ||
        __builtin_add_overflow(span, block, &span) || __builtin_mul_overflow(span, element_bytes, &span))
        return SIZE_MAX;
    return span;
}

inline void cpu_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

}  // namespace atl::detail
