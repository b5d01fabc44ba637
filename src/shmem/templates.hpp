// The bodies of OpenSHMEM's typed names: one template an operation. The generated thunks call them with the C
// name (for errors) and the context.
#pragma once

#include <complex>
#include <span>
#include <type_traits>

#include "shmem/front.hpp"
#include "shmem/hand.hpp"

namespace atl::shmem {

/// An element of the names by size in bits.
template <int N> struct Bits { unsigned char bytes[N / 8]; };

/// Contiguous transfers: dest and source may lie in one PE's memory only where the PE is the caller.
inline const Context& context_for(const Call& call, const void* dest, const void* source, std::size_t bytes,
                                  int pe) {
    const Context& context = context_of(call);
    if (context.window().check && pe == context.my_pe()) [[unlikely]]
        check_disjoint(dest, bytes, source, bytes);
    return context;
}

// ---- remote memory access
// -------------------------------------------------------------------------------------------
template <class T> void put(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n * sizeof(T), pe).put(dest, source, n, pe); });
}
template <class T> void get(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n * sizeof(T), pe).get(dest, source, n, pe); });
}
template <class T> void put_nbi(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n * sizeof(T), pe).put_nbi(dest, source, n, pe); });
}
template <class T> void get_nbi(Call call, T* dest, const T* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n * sizeof(T), pe).get_nbi(dest, source, n, pe); });
}
template <class T> void p(Call call, T* dest, T value, int pe) {
    guarded(call, [&] { context_of(call).p(dest, value, pe); });
}
template <class T> T g(Call call, const T* source, int pe) {
    return guarded(call, [&] { return context_of(call).g(source, pe); });
}
template <class T>
void iput(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
          int pe) {
    guarded(call, [&] { context_of(call).iput(dest, source, dst, sst, n, pe); });
}
template <class T>
void iget(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n,
          int pe) {
    guarded(call, [&] { context_of(call).iget(dest, source, dst, sst, n, pe); });
}
template <class T>
void ibput(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t block,
           std::size_t n, int pe) {
    guarded(call, [&] { context_of(call).ibput(dest, source, dst, sst, block, n, pe); });
}
template <class T>
void ibget(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t block,
           std::size_t n, int pe) {
    guarded(call, [&] { context_of(call).ibget(dest, source, dst, sst, block, n, pe); });
}
inline void putmem(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n, pe).put_bytes(dest, source, n, pe); });
}
inline void getmem(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n, pe).get_bytes(dest, source, n, pe); });
}
inline void putmem_nbi(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n, pe).put_bytes(dest, source, n, pe, false); });
}
inline void getmem_nbi(Call call, void* dest, const void* source, std::size_t n, int pe) {
    guarded(call, [&] { context_for(call, dest, source, n, pe).get_bytes(dest, source, n, pe, false); });
}

// ---- signals
// --------------------------------------------------------------------------------------------------------
inline SignalOp signal_op(int op) { return op == SHMEM_SIGNAL_ADD ? SignalOp::add : SignalOp::set; }

inline void putmem_signal(Call call, void* dest, const void* source, std::size_t bytes, std::uint64_t* signal,
                          std::uint64_t value, int op, int pe) {
    guarded(call, [&] {
        context_of(call).put_signal_bytes(dest, source, bytes, signal, value, signal_op(op), pe);
    });
}
inline void putmem_signal_nbi(Call call, void* dest, const void* source, std::size_t bytes,
                              std::uint64_t* signal, std::uint64_t value, int op, int pe) {
    putmem_signal(call, dest, source, bytes, signal, value, op, pe);
}
template <class T>
void put_signal(Call call, T* dest, const T* source, std::size_t n, std::uint64_t* signal,
                std::uint64_t value, int op, int pe) {
    guarded(call, [&] { context_of(call).put_signal(dest, source, n, signal, value, signal_op(op), pe); });
}
template <class T>
void put_signal_nbi(Call call, T* dest, const T* source, std::size_t n, std::uint64_t* signal,
                    std::uint64_t value, int op, int pe) {
    put_signal(call, dest, source, n, signal, value, op, pe);
}
inline void signal_add(Call call, std::uint64_t* signal, std::uint64_t value, int pe) {
    guarded(call, [&] { context_of(call).signal_add(signal, value, pe); });
}
inline void signal_set(Call call, std::uint64_t* signal, std::uint64_t value, int pe) {
    guarded(call, [&] { context_of(call).signal_set(signal, value, pe); });
}
inline std::uint64_t signal_fetch(Call call, const std::uint64_t* signal) {
    return guarded(call, [&] { return context_of(call).signal_fetch(signal); });
}
inline std::uint64_t signal_wait_until(Call call, std::uint64_t* signal, int cmp, std::uint64_t value) {
    return guarded(
        call, [&] { return context_of(call).signal_wait_until(signal, static_cast<Compare>(cmp), value); });
}

// ---- atomics
// --------------------------------------------------------------------------------------------------------
template <class T> T atomic_fetch(Call call, const T* source, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_fetch(source, pe); });
}
template <class T> void atomic_set(Call call, T* dest, T value, int pe) {
    guarded(call, [&] { context_of(call).atomic_set(dest, value, pe); });
}
template <class T> T atomic_swap(Call call, T* dest, T value, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_swap(dest, value, pe); });
}
template <class T> T atomic_compare_swap(Call call, T* dest, T cond, T value, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_compare_swap(dest, cond, value, pe); });
}
template <class T> T atomic_fetch_add(Call call, T* dest, T value, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_fetch_add(dest, value, pe); });
}
template <class T> void atomic_add(Call call, T* dest, T value, int pe) {
    guarded(call, [&] { context_of(call).atomic_add(dest, value, pe); });
}
template <class T> T atomic_fetch_inc(Call call, T* dest, int pe) {
    return atomic_fetch_add<T>(call, dest, T{1}, pe);
}
template <class T> void atomic_inc(Call call, T* dest, int pe) { atomic_add<T>(call, dest, T{1}, pe); }
template <class T> T atomic_fetch_and(Call call, T* dest, T value, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_fetch_and(dest, value, pe); });
}
template <class T> T atomic_fetch_or(Call call, T* dest, T value, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_fetch_or(dest, value, pe); });
}
template <class T> T atomic_fetch_xor(Call call, T* dest, T value, int pe) {
    return guarded(call, [&] { return context_of(call).atomic_fetch_xor(dest, value, pe); });
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
// ---------------------------------------------------------------------------------
inline Compare comparison(int cmp) { return static_cast<Compare>(cmp); }

template <class T> void wait_until(Call call, T* word, int cmp, T value) {
    guarded(call, [&] { context_of(call).wait_until(word, comparison(cmp), value); });
}
template <class T> void wait(Call call, T* word, T value) { wait_until<T>(call, word, SHMEM_CMP_NE, value); }
template <class T>
void wait_until_all(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    guarded(call, [&] { context_of(call).wait_until_all(words, n, status, comparison(cmp), value); });
}
template <class T>
std::size_t wait_until_any(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    return guarded(call,
                   [&] { return context_of(call).wait_until_any(words, n, status, comparison(cmp), value); });
}
template <class T>
std::size_t wait_until_some(Call call, T* words, std::size_t n, std::size_t* indices, const int* status,
                            int cmp, T value) {
    return guarded(call, [&] {
        return context_of(call).wait_until_some(words, n, indices, status, comparison(cmp), value);
    });
}
template <class T>
void wait_until_all_vector(Call call, T* words, std::size_t n, const int* status, int cmp, const T* values) {
    guarded(call, [&] { context_of(call).wait_until_all_vector(words, n, status, comparison(cmp), values); });
}
template <class T>
std::size_t wait_until_any_vector(Call call, T* words, std::size_t n, const int* status, int cmp,
                                  const T* values) {
    return guarded(call, [&] {
        return context_of(call).wait_until_any_vector(words, n, status, comparison(cmp), values);
    });
}
template <class T>
std::size_t wait_until_some_vector(Call call, T* words, std::size_t n, std::size_t* indices,
                                   const int* status, int cmp, const T* values) {
    return guarded(call, [&] {
        return context_of(call).wait_until_some_vector(words, n, indices, status, comparison(cmp), values);
    });
}
template <class T> int test(Call call, T* word, int cmp, T value) {
    return guarded(call, [&] { return context_of(call).test(word, comparison(cmp), value) ? 1 : 0; });
}
template <class T> int test_all(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    return guarded(
        call, [&] { return context_of(call).test_all(words, n, status, comparison(cmp), value) ? 1 : 0; });
}
template <class T>
std::size_t test_any(Call call, T* words, std::size_t n, const int* status, int cmp, T value) {
    return guarded(call, [&] { return context_of(call).test_any(words, n, status, comparison(cmp), value); });
}
template <class T>
std::size_t test_some(Call call, T* words, std::size_t n, std::size_t* indices, const int* status, int cmp,
                      T value) {
    return guarded(
        call, [&] { return context_of(call).test_some(words, n, indices, status, comparison(cmp), value); });
}
template <class T>
int test_all_vector(Call call, T* words, std::size_t n, const int* status, int cmp, const T* values) {
    return guarded(call, [&] {
        return context_of(call).test_all_vector(words, n, status, comparison(cmp), values) ? 1 : 0;
    });
}
template <class T>
std::size_t test_any_vector(Call call, T* words, std::size_t n, const int* status, int cmp, const T* values) {
    return guarded(
        call, [&] { return context_of(call).test_any_vector(words, n, status, comparison(cmp), values); });
}
template <class T>
std::size_t test_some_vector(Call call, T* words, std::size_t n, std::size_t* indices, const int* status,
                             int cmp, const T* values) {
    return guarded(call, [&] {
        return context_of(call).test_some_vector(words, n, indices, status, comparison(cmp), values);
    });
}

// ---- collectives of teams
// -------------------------------------------------------------------------------------------
inline int alltoallmem(Call call, shmem_team_t team, void* dest, const void* source, std::size_t bytes) {
    return collective(call, [&] {
        const Team& t = team_of(team);
        const std::size_t total = bytes * static_cast<std::size_t>(t.n_pes());
        if (front.check) check_disjoint(dest, total, source, total);
        t.alltoall_bytes(dest, total, source, total);
    });
}
template <class T> int alltoall(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return alltoallmem(call, team, dest, source, n * sizeof(T));
}
template <class T>
int alltoalls(Call call, shmem_team_t team, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
              std::size_t n) {
    return collective(call, [&] { team_of(team).alltoalls_bytes(dest, source, dst, sst, n, sizeof(T)); });
}
inline int alltoallsmem(Call call, shmem_team_t team, void* dest, const void* source, std::ptrdiff_t dst,
                        std::ptrdiff_t sst, std::size_t n) {
    return collective(call, [&] { team_of(team).alltoalls_bytes(dest, source, dst, sst, n, 1); });
}
inline int broadcastmem(Call call, shmem_team_t team, void* dest, const void* source, std::size_t bytes,
                        int root) {
    return collective(call, [&] {
        const Team& t = team_of(team);
        if (front.check && t.my_pe() == root) check_disjoint(dest, bytes, source, bytes);
        t.broadcast_bytes(dest, bytes, source, bytes, root);
    });
}
template <class T>
int broadcast(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n, int root) {
    return broadcastmem(call, team, dest, source, n * sizeof(T), root);
}
inline int fcollectmem(Call call, shmem_team_t team, void* dest, const void* source, std::size_t bytes) {
    return collective(call, [&] {
        const Team& t = team_of(team);
        const std::size_t total = bytes * static_cast<std::size_t>(t.n_pes());
        if (front.check) check_disjoint(dest, total, source, bytes);
        t.fcollect_bytes(dest, total, source, bytes);
    });
}
template <class T> int fcollect(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return fcollectmem(call, team, dest, source, n * sizeof(T));
}
inline int collectmem(Call call, shmem_team_t team, void* dest, const void* source, std::size_t bytes) {
    return collective(call, [&] { team_of(team).collect_bytes(dest, SIZE_MAX, source, bytes); });
}
template <class T> int collect(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return collectmem(call, team, dest, source, n * sizeof(T));
}

template <class T>
int reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n, ReduceOp op) {
    return collective(call, [&] {
        if (front.check && dest != source) check_disjoint(dest, n * sizeof(T), source, n * sizeof(T));
        team_of(team).reduce_erased(dest, source, n, dtype<T>, op);
    });
}
template <class T> int and_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::bit_and);
}
template <class T> int or_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::bit_or);
}
template <class T> int xor_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::bit_xor);
}
template <class T> int max_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::max);
}
template <class T> int min_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::min);
}
template <class T> int sum_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::sum);
}
template <class T> int prod_reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return reduce(call, team, dest, source, n, ReduceOp::prod);
}
template <class T> int sum_inscan(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return collective(call,
                      [&] { team_of(team).scan_erased(dest, source, n, dtype<T>, ReduceOp::sum, true); });
}
template <class T> int sum_exscan(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return collective(call,
                      [&] { team_of(team).scan_erased(dest, source, n, dtype<T>, ReduceOp::sum, false); });
}

// ---- reductions of active sets (deprecated)
// -------------------------------------------------------------------------
template <class T>
void to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, long* sync,
            ReduceOp op) {
    guarded(call, [&] {
        active_set(start, log_stride, size, sync)
            .reduce_erased(dest, source, static_cast<std::size_t>(n), dtype<T>, op);
    });
}
template <class T>
void and_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
                long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::bit_and);
}
template <class T>
void or_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
               long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::bit_or);
}
template <class T>
void xor_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
                long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::bit_xor);
}
template <class T>
void max_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
                long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::max);
}
template <class T>
void min_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
                long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::min);
}
template <class T>
void sum_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
                long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::sum);
}
template <class T>
void prod_to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, T*,
                 long* sync) {
    to_all(call, dest, source, n, start, log_stride, size, sync, ReduceOp::prod);
}

}  // namespace atl::shmem
