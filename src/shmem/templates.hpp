// Bodies of OpenSHMEM's typed names: one template per operation. The generated thunks pass the C name (for
// errors) and the context.
#pragma once

#include <complex>
#include <concepts>
#include <span>
#include <type_traits>

#include "core/context/update_notes.hpp"
#include "core/sync/poll_watch.hpp"
#include "shmem/checks.hpp"
#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

/// An element of the names with a size in bits.
template <int N> struct Bits { unsigned char bytes[N / 8]; };

/// The Area of an argument of a typed name.
template <class T> Area area(const char* argument, const T* address, std::size_t count) {
    return {argument, address, Context::bytes_of<T>(count), alignof(T)};
}
inline Area bytes_area(const char* argument, const void* address, std::size_t bytes) {
    return {argument, address, bytes};
}
template <class T> Blocks blocks(std::ptrdiff_t stride, std::size_t block, std::size_t count) {
    std::ptrdiff_t bytes = 0;
    if (__builtin_mul_overflow(stride, static_cast<std::ptrdiff_t>(sizeof(T)), &bytes))
        bytes = stride < 0 ? PTRDIFF_MIN : PTRDIFF_MAX;
    return {bytes, block * sizeof(T), count};
}

// The checks are separate functions, so that unchecked calls keep their arguments in registers.
template <class T>
[[gnu::noinline]] void check_put(const Context& context, const T* dest, const T* source, std::size_t n,
                                 int pe) {
    if (is_right(context, dest, source, Context::bytes_of<T>(n), alignof(T), pe)) [[likely]]
        return;
    check_transfer(context, area("dest", dest, n), area("source", source, n), pe);
}
template <class T>
[[gnu::noinline]] void check_get(const Context& context, const T* dest, const T* source, std::size_t n,
                                 int pe) {
    if (is_right(context, source, dest, Context::bytes_of<T>(n), alignof(T), pe)) [[likely]]
        return;
    check_transfer(context, area("source", source, n), area("dest", dest, n), pe);
}
/// Checks one element.
template <class T>
[[gnu::noinline]] void check_word(const Context& context, const char* argument, const T* word, int pe) {
    if (is_right(context, word, alignof(T), pe) && sizeof(T) == alignof(T)) [[likely]]
        return;
    check_pe("pe", pe, context.n_pes());
    check_symmetric(context, area(argument, word, 1));
}

/// Checks a put and returns its context.
template <class T>
[[gnu::always_inline]] inline const Context& put_context(const Call& call, const T* dest, const T* source,
                                                         std::size_t n, int pe) {
    const Context& context = context_of(call);
    if (context.window().check_args) [[unlikely]]
        check_put(context, dest, source, n, pe);
    return context;
}
template <class T>
[[gnu::always_inline]] inline const Context& get_context(const Call& call, const T* dest, const T* source,
                                                         std::size_t n, int pe) {
    const Context& context = context_of(call);
    if (context.window().check_args) [[unlikely]]
        check_get(context, dest, source, n, pe);
    return context;
}
template <class T>
[[gnu::always_inline]] inline const Context& word_context(const Call& call, const char* argument,
                                                          const T* word, int pe) {
    const Context& context = context_of(call);
    if (context.window().check_args) [[unlikely]]
        check_word(context, argument, word, pe);
    return context;
}
/// The same for strided puts.
template <class T>
const Context& put_context(const Call& call, const T* dest, const T* source, std::ptrdiff_t dst,
                           std::ptrdiff_t sst, std::size_t block, std::size_t n, int pe) {
    const Context& context = context_of(call);
    if (context.window().check_args) [[unlikely]]
        check_strided(context, area("dest", dest, 1), blocks<T>(dst, block, n), area("source", source, 1),
                      blocks<T>(sst, block, n), pe);
    return context;
}
template <class T>
const Context& get_context(const Call& call, const T* dest, const T* source, std::ptrdiff_t dst,
                           std::ptrdiff_t sst, std::size_t block, std::size_t n, int pe) {
    const Context& context = context_of(call);
    if (context.window().check_args) [[unlikely]]
        check_strided(context, area("source", source, 1), blocks<T>(sst, block, n), area("dest", dest, 1),
                      blocks<T>(dst, block, n), pe);
    return context;
}
inline char* bytes_of(void* address) { return static_cast<char*>(address); }
inline const char* bytes_of(const void* address) { return static_cast<const char*>(address); }

// ---- remote memory access
template <class T> void put(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { put_context(call, dest, source, n, pe).put(dest, source, n, pe); });
}
template <class T> void get(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { get_context(call, dest, source, n, pe).get(dest, source, n, pe); });
}
template <class T> void put_nbi(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { put_context(call, dest, source, n, pe).put_nbi(dest, source, n, pe); });
}
template <class T> void get_nbi(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { get_context(call, dest, source, n, pe).get_nbi(dest, source, n, pe); });
}
template <class T> void p(Call call, T* dest, T value, int pe) {
    guarded(call, [&] { word_context(call, "dest", dest, pe).p(dest, value, pe); });
}
template <class T> T g(Call call, const T* source, int pe) {
    return guarded(call, [&] { return word_context(call, "source", source, pe).g(source, pe); });
}
template <class T>
void iput(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
          int pe) {
    guarded(call,
            [&] { put_context(call, dest, source, dst, sst, 1, n, pe).iput(dest, source, dst, sst, n, pe); });
}
template <class T>
void iget(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
          int pe) {
    guarded(call,
            [&] { get_context(call, dest, source, dst, sst, 1, n, pe).iget(dest, source, dst, sst, n, pe); });
}
template <class T>
void ibput(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t block,
           std::size_t n, int pe) {
    guarded(call, [&] {
        put_context(call, dest, source, dst, sst, block, n, pe).ibput(dest, source, dst, sst, block, n, pe);
    });
}
template <class T>
void ibget(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t block,
           std::size_t n, int pe) {
    guarded(call, [&] {
        get_context(call, dest, source, dst, sst, block, n, pe).ibget(dest, source, dst, sst, block, n, pe);
    });
}
inline void putmem(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] {
        put_context(call, bytes_of(dest), bytes_of(source), n, pe).put_bytes(dest, source, n, pe);
    });
}
inline void getmem(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] {
        get_context(call, bytes_of(dest), bytes_of(source), n, pe).get_bytes(dest, source, n, pe);
    });
}
inline void putmem_nbi(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] {
        put_context(call, bytes_of(dest), bytes_of(source), n, pe).put_bytes(dest, source, n, pe, false);
    });
}
inline void getmem_nbi(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] {
        get_context(call, bytes_of(dest), bytes_of(source), n, pe).get_bytes(dest, source, n, pe, false);
    });
}

// ---- signals
inline void check_signal_put(const Context& context, const Area& dest, const Area& source,
                             const std::uint64_t* signal, int pe) {
    check_transfer(context, dest, source, pe);
    check_symmetric(context, area("sig_addr", signal, 1));
}
inline SignalOp signal_op(int op) {
    check_signal_op(op);
    return op == SHMEM_SIGNAL_ADD ? SignalOp::add : SignalOp::set;
}

template <bool Blocking = true>
void putmem_signal(Call call, void* dest, const void* source, std::size_t bytes, std::uint64_t* signal,
                   std::uint64_t value, int op, int pe) {
    guarded(call, [&] {
        const Context& context = context_of(call);
        if (context.window().check_args) [[unlikely]]
            check_signal_put(context, bytes_area("dest", dest, bytes), bytes_area("source", source, bytes),
                             signal, pe);
        context.put_signal_bytes<Blocking>(dest, source, bytes, signal, value, signal_op(op), pe);
        core::note_signal(context.state(), signal, value, signal_op(op) == SignalOp::add, pe);
    });
}
inline void putmem_signal_nbi(Call call, void* dest, const void* source, std::size_t bytes,
                              std::uint64_t* signal, std::uint64_t value, int op, int pe) {
    putmem_signal<false>(call, dest, source, bytes, signal, value, op, pe);
}
template <class T, bool Blocking = true>
void put_signal(Call call, T* dest, const T* source, std::size_t n, std::uint64_t* signal,
                std::uint64_t value, int op, int pe) {
    guarded(call, [&] {
        const Context& context = context_of(call);
        if (context.window().check_args) [[unlikely]]
            check_signal_put(context, area("dest", dest, n), area("source", source, n), signal, pe);
        context.put_signal_bytes<Blocking>(dest, source, Context::bytes_of<T>(n), signal, value,
                                           signal_op(op), pe);
        core::note_signal(context.state(), signal, value, signal_op(op) == SignalOp::add, pe);
    });
}
template <class T>
void put_signal_nbi(Call call, T* dest, const T* source, std::size_t n, std::uint64_t* signal,
                    std::uint64_t value, int op, int pe) {
    put_signal<T, false>(call, dest, source, n, signal, value, op, pe);
}
inline void signal_add(Call call, std::uint64_t* signal, std::uint64_t value, int pe) {
    guarded(call, [&] {
        const Context& context = word_context(call, "sig_addr", signal, pe);
        context.signal_add(signal, value, pe);
        core::note_signal(context.state(), signal, value, true, pe);
    });
}
inline void signal_set(Call call, std::uint64_t* signal, std::uint64_t value, int pe) {
    guarded(call, [&] {
        const Context& context = word_context(call, "sig_addr", signal, pe);
        context.signal_set(signal, value, pe);
        core::note_signal(context.state(), signal, value, false, pe);
    });
}
inline std::uint64_t signal_fetch(Call call, const std::uint64_t* signal) {
    return guarded(call, [&] { return context_of(call).signal_fetch(signal); });
}
inline std::uint64_t signal_wait_until(Call call, std::uint64_t* signal, int cmp, std::uint64_t value) {
    return guarded(call, [&] {
        const Context& context = context_of(call);
        check_compare(cmp);
        if (context.window().check_args) [[unlikely]]
            check_symmetric(context, area("sig_addr", signal, 1));
        return context.signal_wait_until(signal, static_cast<Compare>(cmp), value);
    });
}

// ---- atomics
template <class T> T atomic_fetch(Call call, const T* source, int pe) {
    return guarded(call, [&] { return word_context(call, "source", source, pe).atomic_fetch(source, pe); });
}
template <class T> void atomic_set(Call call, T* dest, T value, int pe) {
    guarded(call, [&] { word_context(call, "dest", dest, pe).atomic_set(dest, value, pe); });
}
template <class T> T atomic_swap(Call call, T* dest, T value, int pe) {
    return guarded(call, [&] { return word_context(call, "dest", dest, pe).atomic_swap(dest, value, pe); });
}
template <class T> T atomic_compare_swap(Call call, T* dest, T cond, T value, int pe) {
    return guarded(call, [&] {
        return word_context(call, "dest", dest, pe).atomic_compare_swap(dest, cond, value, pe);
    });
}
template <class T> T atomic_fetch_add(Call call, T* dest, T value, int pe) {
    return guarded(call,
                   [&] { return word_context(call, "dest", dest, pe).atomic_fetch_add(dest, value, pe); });
}
template <class T> void atomic_add(Call call, T* dest, T value, int pe) {
    guarded(call, [&] { word_context(call, "dest", dest, pe).atomic_add(dest, value, pe); });
}
template <class T> T atomic_fetch_inc(Call call, T* dest, int pe) {
    return atomic_fetch_add<T>(call, dest, T{1}, pe);
}
template <class T> void atomic_inc(Call call, T* dest, int pe) { atomic_add<T>(call, dest, T{1}, pe); }
template <class T> T atomic_fetch_and(Call call, T* dest, T value, int pe) {
    return guarded(call,
                   [&] { return word_context(call, "dest", dest, pe).atomic_fetch_and(dest, value, pe); });
}
template <class T> T atomic_fetch_or(Call call, T* dest, T value, int pe) {
    return guarded(call,
                   [&] { return word_context(call, "dest", dest, pe).atomic_fetch_or(dest, value, pe); });
}
template <class T> T atomic_fetch_xor(Call call, T* dest, T value, int pe) {
    return guarded(call,
                   [&] { return word_context(call, "dest", dest, pe).atomic_fetch_xor(dest, value, pe); });
}
template <class T> void atomic_and(Call call, T* dest, T value, int pe) {
    atomic_fetch_and<T>(call, dest, value, pe);
}
template <class T> void atomic_or(Call call, T* dest, T value, int pe) {
    atomic_fetch_or<T>(call, dest, value, pe);
}
template <class T> void atomic_xor(Call call, T* dest, T value, int pe) {
    atomic_fetch_xor<T>(call, dest, value, pe);
}
template <class T> void atomic_fetch_nbi(Call call, T* fetch, const T* source, int pe) {
    *fetch = atomic_fetch<T>(call, source, pe);
}
template <class T> void atomic_swap_nbi(Call call, T* fetch, T* dest, T value, int pe) {
    *fetch = atomic_swap<T>(call, dest, value, pe);
}
template <class T> void atomic_compare_swap_nbi(Call call, T* fetch, T* dest, T cond, T value, int pe) {
    *fetch = atomic_compare_swap<T>(call, dest, cond, value, pe);
}
template <class T> void atomic_fetch_inc_nbi(Call call, T* fetch, T* dest, int pe) {
    *fetch = atomic_fetch_inc<T>(call, dest, pe);
}
template <class T> void atomic_fetch_add_nbi(Call call, T* fetch, T* dest, T value, int pe) {
    *fetch = atomic_fetch_add<T>(call, dest, value, pe);
}
template <class T> void atomic_fetch_and_nbi(Call call, T* fetch, T* dest, T value, int pe) {
    *fetch = atomic_fetch_and<T>(call, dest, value, pe);
}
template <class T> void atomic_fetch_or_nbi(Call call, T* fetch, T* dest, T value, int pe) {
    *fetch = atomic_fetch_or<T>(call, dest, value, pe);
}
template <class T> void atomic_fetch_xor_nbi(Call call, T* fetch, T* dest, T value, int pe) {
    *fetch = atomic_fetch_xor<T>(call, dest, value, pe);
}

// ---- point-to-point synchronisation
inline Compare comparison(int cmp) { return static_cast<Compare>(cmp); }

/// A pointer that a call for many words reads or writes through.
struct Needed {
    const char* argument;
    const void* pointer;
};
/// The context of a call on this PE's own words.
template <class T, std::same_as<Needed>... Each>
const Context& waiting_context(const Call& call, const T* words, std::size_t n, int cmp, Each... needed) {
    const Context& context = context_of(call);
    check_compare(cmp);
    if (n != 0) (check_given(needed.argument, needed.pointer), ...);
    if (context.window().check_args) [[unlikely]]
        check_symmetric(context, area("ivar", words, n));
    return context;
}

template <class T> void wait_until(Call call, T* word, int cmp, T value) {
    guarded(call, [&] { waiting_context(call, word, 1, cmp).wait_until(word, comparison(cmp), value); });
}
template <class T> void wait(Call call, T* word, T value) { wait_until<T>(call, word, SHMEM_CMP_NE, value); }
template <class T>
void wait_until_all(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    guarded(call, [&] {
        waiting_context(call, words, n, cmp).wait_until_all(words, n, status, comparison(cmp), value);
    });
}
template <class T>
std::size_t wait_until_any(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp).wait_until_any(words, n, status, comparison(cmp), value);
    });
}
template <class T>
std::size_t wait_until_some(Call call, T* words, std::size_t n, std::size_t* indices, const int* status,
                            int cmp, T value) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"indices", indices})
            .wait_until_some(words, n, indices, status, comparison(cmp), value);
    });
}
template <class T>
void wait_until_all_vector(Call call, T* words, std::size_t n, const int* status, int cmp, const T* values) {
    guarded(call, [&] {
        waiting_context(call, words, n, cmp, Needed{"cmp_values", values})
            .wait_until_all_vector(words, n, status, comparison(cmp), values);
    });
}
template <class T>
std::size_t wait_until_any_vector(Call call, T* words, std::size_t n, const int* status, int cmp,
                                  const T* values) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"cmp_values", values})
            .wait_until_any_vector(words, n, status, comparison(cmp), values);
    });
}
template <class T>
std::size_t wait_until_some_vector(Call call, T* words, std::size_t n, std::size_t* indices,
                                   const int* status, int cmp, const T* values) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"indices", indices}, Needed{"cmp_values", values})
            .wait_until_some_vector(words, n, indices, status, comparison(cmp), values);
    });
}
template <class T> int test(Call call, T* word, int cmp, T value) {
    return guarded(call, [&] {
        const Context& context = waiting_context(call, word, 1, cmp);
        if (context.test(word, comparison(cmp), value)) return 1;
        core::note_test(context, word);
        return 0;
    });
}
template <class T> int test_all(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp).test_all(words, n, status, comparison(cmp), value) ? 1
                                                                                                       : 0;
    });
}
template <class T>
std::size_t test_any(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp).test_any(words, n, status, comparison(cmp), value);
    });
}
template <class T>
std::size_t test_some(Call call, T* words, std::size_t n, std::size_t* indices, const int* status, int cmp,
                      T value) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"indices", indices})
            .test_some(words, n, indices, status, comparison(cmp), value);
    });
}
template <class T>
int test_all_vector(Call call, T* words, std::size_t n, const int* status, int cmp, const T* values) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"cmp_values", values})
                       .test_all_vector(words, n, status, comparison(cmp), values)
                   ? 1
                   : 0;
    });
}
template <class T>
std::size_t test_any_vector(Call call, T* words, std::size_t n, const int* status, int cmp, const T* values) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"cmp_values", values})
            .test_any_vector(words, n, status, comparison(cmp), values);
    });
}
template <class T>
std::size_t test_some_vector(Call call, T* words, std::size_t n, std::size_t* indices, const int* status,
                             int cmp, const T* values) {
    return guarded(call, [&] {
        return waiting_context(call, words, n, cmp, Needed{"indices", indices}, Needed{"cmp_values", values})
            .test_some_vector(words, n, indices, status, comparison(cmp), values);
    });
}

}  // namespace atl::shmem
