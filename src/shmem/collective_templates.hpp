// The bodies of OpenSHMEM's typed collectives. The others are in templates.hpp.
#pragma once

#include "shmem/templates.hpp"

namespace atl::shmem {

// ---- collectives of teams
/// Returns the number of elements of all PEs' blocks; saturates.
inline std::size_t times(std::size_t n, const Team& team) {
    std::size_t product = 0;
    return __builtin_mul_overflow(n, static_cast<std::size_t>(team.n_pes()), &product) ? SIZE_MAX : product;
}
template <class T>
int alltoall(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        const std::size_t all = times(n, t);
        if (is_checked()) check_collective(t, area("dest", dest, all), area("source", source, all));
        t.alltoall_bytes(dest, all * sizeof(T), source, all * sizeof(T));
    });
}
inline int alltoallmem(const Call& call, shmem_team_t team, void* dest, const void* source, std::size_t n) {
    return alltoall(call, team, bytes_of(dest), bytes_of(source), n);
}
template <class T>
int alltoalls(const Call& call, shmem_team_t team, T* dest, const T* source, std::ptrdiff_t dst,
              std::ptrdiff_t sst, std::size_t n) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        if (is_checked())
            check_strided_collective(t, area("dest", dest, 1), blocks<T>(dst, 1, times(n, t)),
                                     area("source", source, 1), blocks<T>(sst, 1, times(n, t)));
        t.alltoalls_bytes(dest, source, dst, sst, n, sizeof(T));
    });
}
inline int alltoallsmem(const Call& call, shmem_team_t team, void* dest, const void* source,
                        std::ptrdiff_t dst, std::ptrdiff_t sst, std::size_t n) {
    return alltoalls(call, team, bytes_of(dest), bytes_of(source), dst, sst, n);
}
template <class T>
int broadcast(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n, int root) {
    if (n != 0) require(call, "dest", dest);
    return collective(call, [&] {
        const Team& t = team_of(team);
        if (n != 0 && t.my_pe() == root) require(call, "source", source);
        if (is_checked()) check_broadcast(t, area("dest", dest, n), area("source", source, n), root);
        t.broadcast_bytes(dest, n * sizeof(T), source, n * sizeof(T), root);
    });
}
inline int broadcastmem(const Call& call, shmem_team_t team, void* dest, const void* source, std::size_t n,
                        int root) {
    return broadcast(call, team, bytes_of(dest), bytes_of(source), n, root);
}
template <class T>
int fcollect(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        if (is_checked()) check_collective(t, area("dest", dest, times(n, t)), area("source", source, n));
        t.fcollect_bytes(dest, times(n, t) * sizeof(T), source, n * sizeof(T));
    });
}
inline int fcollectmem(const Call& call, shmem_team_t team, void* dest, const void* source, std::size_t n) {
    return fcollect(call, team, bytes_of(dest), bytes_of(source), n);
}
template <class T> int collect(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        // This PE knows only its own part of dest.
        if (is_checked()) check_collective(t, area("dest", dest, n), area("source", source, n));
        t.collect_bytes(dest, SIZE_MAX, source, n * sizeof(T));
    });
}
inline int collectmem(const Call& call, shmem_team_t team, void* dest, const void* source, std::size_t n) {
    return collect(call, team, bytes_of(dest), bytes_of(source), n);
}

template <class T>
int reduce(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n, ReduceOp op) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        if (is_checked()) check_collective(t, area("dest", dest, n), area("source", source, n), true);
        t.reduce_erased(dest, source, n, dtype<T>, op);
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
/// `n` elements of the result for each member.
template <class T>
int reduce_scatter(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n,
                   ReduceOp op) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        const std::size_t all = times(n, t);
        if (is_checked()) check_collective(t, area("dest", dest, n), area("source", source, all));
        t.reduce_scatter_erased(dest, n, source, all, dtype<T>, op);
    });
}
template <class T>
int scan(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n, bool inclusive) {
    require_given(call, dest, source, n);
    return collective(call, [&] {
        const Team& t = team_of(team);
        if (is_checked()) check_collective(t, area("dest", dest, n), area("source", source, n), true);
        t.scan_erased(dest, source, n, dtype<T>, ReduceOp::sum, inclusive);
    });
}
template <class T> int sum_inscan(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return scan(call, team, dest, source, n, true);
}
template <class T> int sum_exscan(Call call, shmem_team_t team, T* dest, const T* source, std::size_t n) {
    return scan(call, team, dest, source, n, false);
}

// ---- reductions of active sets (deprecated)
template <class T>
void to_all(Call call, T* dest, const T* source, int n, int start, int log_stride, int size, long* sync,
            ReduceOp op) {
    guarded(call, [&] {
        context_of(call);
        if (is_outside(call, start, log_stride, size)) return;
        if (is_checked() && n < 0)
            throw Mistake(ErrorCode::invalid_argument, "nreduce", std::to_string(n) + " is negative.");
        require_given(call, dest, source, static_cast<std::size_t>(n));
        const Team& team = active_set(start, log_stride, size, sync);
        const auto count = static_cast<std::size_t>(n);
        if (is_checked())
            check_collective(team, area("dest", dest, count), area("source", source, count), true);
        team.reduce_erased(dest, source, count, dtype<T>, op);
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
