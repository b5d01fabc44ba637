// Atomics on a word of a PE of the team: unordered unless a name says otherwise. Fetching ones are complete
// on return, the others after quiet. Words have 4 or 8 bytes: all integers. For fetch, set, swap,
// compare_swap, fetch_add and add also float and double. (half and bfloat16: atoll/device/half.hpp.)
//
// The host must not update a word while kernels update it atomically: CPU and GPU atomics are not atomic with
// one another.
#pragma once

#include "atoll/device/peers.hpp"

namespace atl::device {
inline namespace ATOLL_DEVICE_ROUTES {

namespace detail {

template <class T> struct IsFloating { static constexpr bool value = false; };
template <> struct IsFloating<float> { static constexpr bool value = true; };
template <> struct IsFloating<double> { static constexpr bool value = true; };

template <class T> struct IsInteger { static constexpr bool value = false; };
template <> struct IsInteger<int> { static constexpr bool value = true; };
template <> struct IsInteger<unsigned> { static constexpr bool value = true; };
template <> struct IsInteger<long> { static constexpr bool value = true; };
template <> struct IsInteger<unsigned long> { static constexpr bool value = true; };
template <> struct IsInteger<long long> { static constexpr bool value = true; };
template <> struct IsInteger<unsigned long long> { static constexpr bool value = true; };

template <class T> using BitsOf = typename Bits<sizeof(T)>::type;

template <class T> ATOLL_ANYWHERE BitsOf<T> bits(T value) { return same_bits<BitsOf<T>>(value); }
template <class T> ATOLL_ANYWHERE T from_bits(BitsOf<T> value) { return same_bits<T>(value); }
template <class T> ATOLL_ANYWHERE BitsOf<T>* word(T* p) { return reinterpret_cast<BitsOf<T>*>(p); }

#if defined(__CUDA_ARCH__)
// By name of the address space: CUDA's own functions take generic addresses, and so test each one.
#define ATOLL_ATOMIC(name, text, Word, letter)                        \
    __device__ inline Word name(Word* p, Word value) {                \
        Word before;                                                  \
        asm volatile("atom.relaxed.sys.global." text " %0, [%1], %2;" \
                     : "=" letter(before)                             \
                     : "l"(p), letter(value)                          \
                     : "memory");                                     \
        return before;                                                \
    }
ATOLL_ATOMIC(exchange_word, "exch.b32", unsigned, "r")
ATOLL_ATOMIC(exchange_word, "exch.b64", unsigned long long, "l")
ATOLL_ATOMIC(add_word, "add.u32", unsigned, "r")
ATOLL_ATOMIC(add_word, "add.u64", unsigned long long, "l")
ATOLL_ATOMIC(add_word, "add.f32", float, "f")
ATOLL_ATOMIC(add_word, "add.f64", double, "d")
ATOLL_ATOMIC(and_word, "and.b32", unsigned, "r")
ATOLL_ATOMIC(and_word, "and.b64", unsigned long long, "l")
ATOLL_ATOMIC(or_word, "or.b32", unsigned, "r")
ATOLL_ATOMIC(or_word, "or.b64", unsigned long long, "l")
ATOLL_ATOMIC(xor_word, "xor.b32", unsigned, "r")
ATOLL_ATOMIC(xor_word, "xor.b64", unsigned long long, "l")
#undef ATOLL_ATOMIC
__device__ inline unsigned compare_swap_word(unsigned* p, unsigned condition, unsigned value) {
    unsigned before;
    asm volatile("atom.relaxed.sys.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(before)
                 : "l"(p), "r"(condition), "r"(value)
                 : "memory");
    return before;
}
__device__ inline unsigned long long compare_swap_word(unsigned long long* p, unsigned long long condition,
                                                       unsigned long long value) {
    unsigned long long before;
    asm volatile("atom.relaxed.sys.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(p), "l"(condition), "l"(value)
                 : "memory");
    return before;
}
#endif

template <class U> ATOLL_ANYWHERE U swap_bits(U* p, U value) {
    static_assert(IsInteger<U>::value, "atomics are for words of 4 and 8 bytes");
#if defined(__CUDA_ARCH__)
    return exchange_word(p, value);
#else
    return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);
#endif
}
template <class U> ATOLL_ANYWHERE U compare_swap_bits(U* p, U condition, U value) {
    static_assert(IsInteger<U>::value, "atomics are for words of 4 and 8 bytes");
#if defined(__CUDA_ARCH__)
    return compare_swap_word(p, condition, value);
#else
    __atomic_compare_exchange_n(p, &condition, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return condition;  // the value found, swapped or not
#endif
}
template <class U> ATOLL_ANYWHERE U add_bits(U* p, U value) {
#if defined(__CUDA_ARCH__)
    return add_word(p, value);
#else
    return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
#endif
}
struct BitAnd {
    template <class U> ATOLL_ANYWHERE U operator()(U* p, U value) const {
#if defined(__CUDA_ARCH__)
        return and_word(p, value);
#else
        return __atomic_fetch_and(p, value, __ATOMIC_RELAXED);
#endif
    }
};
struct BitOr {
    template <class U> ATOLL_ANYWHERE U operator()(U* p, U value) const {
#if defined(__CUDA_ARCH__)
        return or_word(p, value);
#else
        return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
#endif
    }
};
struct BitXor {
    template <class U> ATOLL_ANYWHERE U operator()(U* p, U value) const {
#if defined(__CUDA_ARCH__)
        return xor_word(p, value);
#else
        return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);
#endif
    }
};

/// Atomic floating-point addition. Host processors have no instruction for it.
template <class T> ATOLL_ANYWHERE T add_floating(T* p, T value) {
#if defined(__CUDA_ARCH__)
    return add_word(p, value);
#else
    BitsOf<T> before = __atomic_load_n(word(p), __ATOMIC_RELAXED);
    for (;;) {
        const BitsOf<T> found = compare_swap_bits(word(p), before, bits<T>(from_bits<T>(before) + value));
        if (found == before) return from_bits<T>(before);
        before = found;
    }
#endif
}

template <class T> ATOLL_ANYWHERE T fetch_add_at(T* p, T value) {
    static_assert(IsInteger<T>::value || IsFloating<T>::value,
                  "atomic additions are of integers of 4 and 8 bytes, float and double; half types have them "
                  "in atoll/device/half.hpp, other structs none");
    if constexpr (IsFloating<T>::value)
        return add_floating(p, value);
    else
        return from_bits<T>(add_bits(word(p), bits(value)));
}

/// Adds with release order: after everything that this thread wrote and saw.
template <class T> ATOLL_ANYWHERE void add_release(T* p, T value) {
    static_assert(sizeof(T) == 8 || sizeof(T) == 4, "a word that PEs share has 4 or 8 bytes");
    static_assert(!IsFloating<T>::value, "signals are integers; atomic_add takes floating-point words, too");
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 8)
        asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(p), "l"(bits(value)) : "memory");
    else
        asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(p), "r"(bits(value)) : "memory");
#else
    __atomic_fetch_add(word(p), bits(value), __ATOMIC_RELEASE);
#endif
}

ATOLL_ANYWHERE constexpr Operation name_of(AtomicOp op) {
    return static_cast<Operation>(static_cast<int>(Operation::atomic_fetch) + static_cast<int>(op));
}
static_assert(name_of(AtomicOp::fetch_xor) == Operation::atomic_fetch_xor, "as AtomicOp has them");

/// Type of a word for atomics that the host carries out. Integers are updated as unsigned ones: their bits
/// are the same.
template <class T> ATOLL_ANYWHERE constexpr DType far_type() {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "a word that PEs share has 4 or 8 bytes");
    return sizeof(T) == 8 ? (IsFloating<T>::value ? DType::float64 : DType::uint64)
                          : (IsFloating<T>::value ? DType::float32 : DType::uint32);
}
template <class T>
ATOLL_ANYWHERE T far_atomic(const Team& team, AtomicOp op, const T* word, T value, int slot,
                            T condition = {}) {
    const unsigned long long before =
        far_word(team.control, far_code(name_of(op), op, far_type<T>(), is_fetching(op)), slot,
                 const_cast<T*>(word), sizeof(T), bits(value), bits(condition));
    return from_bits<T>(static_cast<BitsOf<T>>(before));
}

/// Returns the previous value. For far PEs only if `op` fetches.
template <class T, class Update>
ATOLL_ANYWHERE T bitwise(const Team& team, AtomicOp op, T* dst, T value, int pe, Update update) {
    static_assert(IsInteger<T>::value, "bitwise atomics are of integers of 4 and 8 bytes");
    const Route route = route_for(team, name_of(op), dst, pe);
    if (is_far(route.slot)) return far_atomic(team, op, dst, value, route.slot);
    return from_bits<T>(update(word(route.at(dst)), bits(value)));
}

}  // namespace detail

/// Return src[0] of PE `pe`. Complete when it returns. Memory order: relaxed. While a kernel updates a word,
/// the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_fetch(const Team& team, const T* src, int pe) {
    const detail::Route route = detail::route_for(team, Operation::atomic_fetch, src, pe);
    if (detail::is_far(route.slot)) return detail::far_atomic(team, AtomicOp::fetch, src, T{}, route.slot);
    return load_relaxed(route.at(src));
}

/// Set dst[0] of PE `pe` to `value`. Complete after quiet. Memory order: relaxed. While a kernel updates a
/// word, the host must not update it.
template <class T> ATOLL_ANYWHERE void atomic_set(const Team& team, T* dst, SameAs<T> value, int pe) {
    const detail::Route route = detail::route_for(team, Operation::atomic_set, dst, pe);
    if (detail::is_far(route.slot))
        detail::far_atomic(team, AtomicOp::set, dst, value, route.slot);
    else
        store_relaxed(route.at(dst), value);
}

/// Set dst[0] of PE `pe` to `value`, and return the previous value. Complete when it returns. Memory order:
/// relaxed. While a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_swap(const Team& team, T* dst, SameAs<T> value, int pe) {
    const detail::Route route = detail::route_for(team, Operation::atomic_swap, dst, pe);
    if (detail::is_far(route.slot)) return detail::far_atomic(team, AtomicOp::swap, dst, value, route.slot);
    return detail::from_bits<T>(detail::swap_bits(detail::word(route.at(dst)), detail::bits<T>(value)));
}

/// Set dst[0] of PE `pe` to `value` if it equals `condition`, and return the previous value. Bits are
/// compared, also those of floats. Complete when it returns. Memory order: relaxed. While a kernel updates a
/// word, the host must not update it.
template <class T>
ATOLL_ANYWHERE T atomic_compare_swap(const Team& team, T* dst, SameAs<T> condition, SameAs<T> value, int pe) {
    const detail::Route route = detail::route_for(team, Operation::atomic_compare_swap, dst, pe);
    if (detail::is_far(route.slot)) {
        using U = detail::BitsOf<T>;
        return detail::from_bits<T>(detail::far_atomic<U>(team, AtomicOp::compare_swap, detail::word(dst),
                                                          detail::bits<T>(value), route.slot,
                                                          detail::bits<T>(condition)));
    }
    return detail::from_bits<T>(detail::compare_swap_bits(
        detail::word(route.at(dst)), detail::bits<T>(condition), detail::bits<T>(value)));
}

/// Add `value` to dst[0] of PE `pe`, and return the previous value. Complete when it returns. Memory order:
/// relaxed. While a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_fetch_add(const Team& team, T* dst, SameAs<T> value, int pe) {
    const detail::Route route = detail::route_for(team, Operation::atomic_fetch_add, dst, pe);
    if (detail::is_far(route.slot))
        return detail::far_atomic(team, AtomicOp::fetch_add, dst, value, route.slot);
    return detail::fetch_add_at(route.at(dst), value);
}

/// Add `value` to dst[0] of PE `pe`. Complete after quiet. Memory order: relaxed. While a kernel updates a
/// word, the host must not update it.
template <class T> ATOLL_ANYWHERE void atomic_add(const Team& team, T* dst, SameAs<T> value, int pe) {
    const detail::Route route = detail::route_for(team, Operation::atomic_add, dst, pe);
    if (detail::is_far(route.slot))
        detail::far_atomic(team, AtomicOp::add, dst, value, route.slot);
    else
        static_cast<void>(detail::fetch_add_at(route.at(dst), value));
}

/// Add 1 to dst[0] of PE `pe`, and return the previous value. Complete when it returns. Memory order:
/// relaxed. While a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_fetch_inc(const Team& team, T* dst, int pe) {
    return atomic_fetch_add(team, dst, T{1}, pe);
}

/// Add 1 to dst[0] of PE `pe`. Complete after quiet. Memory order: relaxed. While a kernel updates a word,
/// the host must not update it.
template <class T> ATOLL_ANYWHERE void atomic_inc(const Team& team, T* dst, int pe) {
    atomic_add(team, dst, T{1}, pe);
}

/// Combine dst[0] of PE `pe` with `value` by bitwise AND, and return the previous value. Complete when it
/// returns. Memory order: relaxed. While a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_fetch_and(const Team& team, T* dst, SameAs<T> value, int pe) {
    return detail::bitwise<T>(team, AtomicOp::fetch_and, dst, value, pe, detail::BitAnd{});
}

/// Combine dst[0] of PE `pe` with `value` by bitwise AND. Complete after quiet. Memory order: relaxed. While
/// a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE void atomic_and(const Team& team, T* dst, SameAs<T> value, int pe) {
    detail::bitwise<T>(team, AtomicOp::bit_and, dst, value, pe, detail::BitAnd{});
}

/// Combine dst[0] of PE `pe` with `value` by bitwise OR, and return the previous value. Complete when it
/// returns. Memory order: relaxed. While a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_fetch_or(const Team& team, T* dst, SameAs<T> value, int pe) {
    return detail::bitwise<T>(team, AtomicOp::fetch_or, dst, value, pe, detail::BitOr{});
}

/// Combine dst[0] of PE `pe` with `value` by bitwise OR. Complete after quiet. Memory order: relaxed. While a
/// kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE void atomic_or(const Team& team, T* dst, SameAs<T> value, int pe) {
    detail::bitwise<T>(team, AtomicOp::bit_or, dst, value, pe, detail::BitOr{});
}

/// Combine dst[0] of PE `pe` with `value` by bitwise XOR, and return the previous value. Complete when it
/// returns. Memory order: relaxed. While a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE T atomic_fetch_xor(const Team& team, T* dst, SameAs<T> value, int pe) {
    return detail::bitwise<T>(team, AtomicOp::fetch_xor, dst, value, pe, detail::BitXor{});
}

/// Combine dst[0] of PE `pe` with `value` by bitwise XOR. Complete after quiet. Memory order: relaxed. While
/// a kernel updates a word, the host must not update it.
template <class T> ATOLL_ANYWHERE void atomic_xor(const Team& team, T* dst, SameAs<T> value, int pe) {
    detail::bitwise<T>(team, AtomicOp::bit_xor, dst, value, pe, detail::BitXor{});
}

}  // namespace ATOLL_DEVICE_ROUTES
}  // namespace atl::device
