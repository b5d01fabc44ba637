// Bodies of NVSHMEM's typed names. Without a stream they are OpenSHMEM's. With a stream they are enqueued on
// it if symmetric memory is on GPUs; on hosts, where no stream exists, they run at once.
#pragma once

#include "atoll/stream.hpp"
#include "nvshmem/front.hpp"
#include "shmem/collective_templates.hpp"

namespace atl::nvshmem {

using namespace atl::shmem;  // NOLINT(google-build-using-namespace): most bodies are the same

/// `at_once` without a GPU, else `enqueue` with the stream's context.
template <class AtOnce, class Enqueue>
auto in_order(const Call& call, cudaStream_t stream, AtOnce&& at_once, Enqueue&& enqueue) {
    if (!is_on_gpu()) return at_once();
    return guarded(call, [&] { return enqueue(StreamContext(context_of(call), Stream{stream})); });
}
/// The same for collectives of a team.
template <class AtOnce, class Enqueue>
int team_in_order(const Call& call, shmem_team_t team, cudaStream_t stream, AtOnce&& at_once,
                  Enqueue&& enqueue) {
    if (!is_on_gpu()) return at_once();
    return shmem::collective(call, [&] { enqueue(StreamTeam(team_of(team), Stream{stream})); });
}

// ---- remote memory access
template <class T>
void put_on_stream(Call call, T* dest, const T* source, std::size_t n, int pe, cudaStream_t stream) {
    in_order(
        call, stream, [&] { put(call, dest, source, n, pe); },
        [&](const StreamContext& c) { c.put(dest, source, n, pe); });
}
template <class T>
void get_on_stream(Call call, T* dest, const T* source, std::size_t n, int pe, cudaStream_t stream) {
    in_order(
        call, stream, [&] { get(call, dest, source, n, pe); },
        [&](const StreamContext& c) { c.get(dest, source, n, pe); });
}
template <class T>
void put_nbi_on_stream(Call call, T* dest, const T* source, std::size_t n, int pe, cudaStream_t stream) {
    put_on_stream(call, dest, source, n, pe, stream);
}
template <class T>
void get_nbi_on_stream(Call call, T* dest, const T* source, std::size_t n, int pe, cudaStream_t stream) {
    get_on_stream(call, dest, source, n, pe, stream);
}
template <class T>
void iput_on_stream(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                    std::size_t n, int pe, cudaStream_t stream) {
    in_order(
        call, stream, [&] { iput(call, dest, source, dst, sst, n, pe); },
        [&](const StreamContext& c) { c.iput(dest, source, dst, sst, n, pe); });
}
template <class T>
void iget_on_stream(Call call, T* dest, const T* source, std::ptrdiff_t dst, std::ptrdiff_t sst,
                    std::size_t n, int pe, cudaStream_t stream) {
    in_order(
        call, stream, [&] { iget(call, dest, source, dst, sst, n, pe); },
        [&](const StreamContext& c) { c.iget(dest, source, dst, sst, n, pe); });
}
template <class T> void p_on_stream(Call call, T* dest, T value, int pe, cudaStream_t stream) {
    in_order(
        call, stream, [&] { p(call, dest, value, pe); },
        [&](const StreamContext& c) { c.p(dest, value, pe); });
}
/// Returns the element, so the host waits for the stream's earlier work.
template <class T> T g_on_stream(Call call, const T* source, int pe, cudaStream_t stream) {
    return in_order(
        call, stream, [&] { return g(call, source, pe); },
        [&](const StreamContext& c) {
            c.synchronize();
            return g(call, source, pe);
        });
}
inline void putmem_on_stream(Call call, void* dest, const void* source, std::size_t n, int pe,
                             cudaStream_t stream) {
    put_on_stream(call, bytes_of(dest), bytes_of(source), n, pe, stream);
}
inline void getmem_on_stream(Call call, void* dest, const void* source, std::size_t n, int pe,
                             cudaStream_t stream) {
    get_on_stream(call, bytes_of(dest), bytes_of(source), n, pe, stream);
}
inline void putmem_nbi_on_stream(Call call, void* dest, const void* source, std::size_t n, int pe,
                                 cudaStream_t stream) {
    putmem_on_stream(call, dest, source, n, pe, stream);
}
inline void getmem_nbi_on_stream(Call call, void* dest, const void* source, std::size_t n, int pe,
                                 cudaStream_t stream) {
    getmem_on_stream(call, dest, source, n, pe, stream);
}

// ---- signals
inline void signal_op(Call call, std::uint64_t* signal, std::uint64_t value, int op, int pe) {
    guarded(call, [&] { check_signal_op(op); });
    if (op == SHMEM_SIGNAL_ADD)
        signal_add(call, signal, value, pe);
    else
        signal_set(call, signal, value, pe);
}
inline void signal_op_on_stream(Call call, std::uint64_t* signal, std::uint64_t value, int op, int pe,
                                cudaStream_t stream) {
    in_order(
        call, stream, [&] { signal_op(call, signal, value, op, pe); },
        [&](const StreamContext& c) {
            c.put_signal_bytes(signal, signal, 0, signal, value, shmem::signal_op(op), pe);
        });
}
template <class T>
void put_signal_on_stream(Call call, T* dest, const T* source, std::size_t n, std::uint64_t* signal,
                          std::uint64_t value, int op, int pe, cudaStream_t stream) {
    in_order(
        call, stream, [&] { put_signal(call, dest, source, n, signal, value, op, pe); },
        [&](const StreamContext& c) {
            c.put_signal(dest, source, n, signal, value, shmem::signal_op(op), pe);
        });
}
template <class T>
void put_signal_nbi_on_stream(Call call, T* dest, const T* source, std::size_t n, std::uint64_t* signal,
                              std::uint64_t value, int op, int pe, cudaStream_t stream) {
    put_signal_on_stream(call, dest, source, n, signal, value, op, pe, stream);
}
inline void putmem_signal_on_stream(Call call, void* dest, const void* source, std::size_t n,
                                    std::uint64_t* signal, std::uint64_t value, int op, int pe,
                                    cudaStream_t stream) {
    put_signal_on_stream(call, bytes_of(dest), bytes_of(source), n, signal, value, op, pe, stream);
}
inline void putmem_signal_nbi_on_stream(Call call, void* dest, const void* source, std::size_t n,
                                        std::uint64_t* signal, std::uint64_t value, int op, int pe,
                                        cudaStream_t stream) {
    putmem_signal_on_stream(call, dest, source, n, signal, value, op, pe, stream);
}
inline void signal_wait_until_on_stream(Call call, std::uint64_t* signal, int cmp, std::uint64_t value,
                                        cudaStream_t stream) {
    in_order(
        call, stream, [&] { signal_wait_until(call, signal, cmp, value); },
        [&](const StreamContext& c) {
            check_compare(cmp);
            c.signal_wait_until(signal, comparison(cmp), value);
        });
}

// ---- waits
template <class T> void wait_until_on_stream(Call call, T* word, int cmp, T value, cudaStream_t stream) {
    in_order(
        call, stream, [&] { shmem::wait_until<T>(call, word, cmp, value); },
        [&](const StreamContext& c) {
            check_compare(cmp);
            c.wait_until(word, comparison(cmp), value);
        });
}
template <class T>
void wait_until_all_on_stream(Call call, T* words, std::size_t n, const int* status, int cmp, T value,
                              cudaStream_t stream) {
    in_order(
        call, stream, [&] { wait_until_all(call, words, n, status, cmp, value); },
        [&](const StreamContext& c) {
            check_compare(cmp);
            c.wait_until_all(words, n, status, comparison(cmp), value);
        });
}
template <class T>
void wait_until_all_vector_on_stream(Call call, T* words, std::size_t n, const int* status, int cmp,
                                     T* values, cudaStream_t stream) {
    in_order(
        call, stream, [&] { wait_until_all_vector(call, words, n, status, cmp, values); },
        [&](const StreamContext& c) {
            check_compare(cmp);
            c.wait_until_all_vector(words, n, status, comparison(cmp), values);
        });
}

// ---- ordering: each call on a stream is complete before the stream's next work begins
inline void quiet(Call call) {
    guarded(call, [&] { context_of(call).quiet(); });
}
inline void quiet_on_stream(Call call, cudaStream_t) { quiet(call); }
inline void flush(Call call) { quiet(call); }
inline void flush_on_stream(Call call, cudaStream_t) { quiet(call); }

inline int barrier(const Call& call, shmem_team_t team) {
    return shmem::collective(call, [&] { team_of(team).barrier(); });
}
inline int team_sync(const Call& call, shmem_team_t team) {
    return shmem::collective(call, [&] { team_of(team).sync(); });
}
/// The world. Fills modules first: a library with kernels may have been loaded since.
inline const Team& world_of(const Call& call) {
    const Team& world = team_of(handle(call.name, NVSHMEM_TEAM_WORLD));
    fill_modules();
    return world;
}
inline void barrier_all(Call call) {
    guarded(call, [&] { world_of(call).barrier(); });
}
inline void sync_all(Call call) {
    guarded(call, [&] { world_of(call).sync(); });
}
inline int barrier_on_stream(const Call& call, shmem_team_t team, cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return barrier(call, team); }, [](const StreamTeam& t) { t.barrier(); });
}
inline int team_sync_on_stream(const Call& call, shmem_team_t team, cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return team_sync(call, team); }, [](const StreamTeam& t) { t.sync(); });
}
inline void barrier_all_on_stream(const Call& call, cudaStream_t stream) {
    prepare_modules(call);
    barrier_on_stream(call, SHMEM_TEAM_WORLD, stream);
}
inline void sync_all_on_stream(const Call& call, cudaStream_t stream) {
    prepare_modules(call);
    team_sync_on_stream(call, SHMEM_TEAM_WORLD, stream);
}

// ---- collectives
template <class T>
int alltoall_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n,
                       cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return alltoall(call, team, dest, source, n); },
        [&](const StreamTeam& t) {
            const std::size_t bytes = times(n, team_of(team)) * sizeof(T);
            t.alltoall_bytes(dest, bytes, source, bytes);
        });
}
template <class T>
int broadcast_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n,
                        int root, cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return broadcast(call, team, dest, source, n, root); },
        [&](const StreamTeam& t) { t.broadcast_bytes(dest, n * sizeof(T), source, n * sizeof(T), root); });
}
template <class T>
int fcollect_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n,
                       cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return fcollect(call, team, dest, source, n); },
        [&](const StreamTeam& t) {
            t.fcollect_bytes(dest, times(n, team_of(team)) * sizeof(T), source, n * sizeof(T));
        });
}
inline int alltoallmem_on_stream(const Call& call, shmem_team_t team, void* dest, const void* source,
                                 std::size_t n, cudaStream_t stream) {
    return alltoall_on_stream(call, team, bytes_of(dest), bytes_of(source), n, stream);
}
inline int broadcastmem_on_stream(const Call& call, shmem_team_t team, void* dest, const void* source,
                                  std::size_t n, int root, cudaStream_t stream) {
    return broadcast_on_stream(call, team, bytes_of(dest), bytes_of(source), n, root, stream);
}
inline int fcollectmem_on_stream(const Call& call, shmem_team_t team, void* dest, const void* source,
                                 std::size_t n, cudaStream_t stream) {
    return fcollect_on_stream(call, team, bytes_of(dest), bytes_of(source), n, stream);
}

template <class T>
int reduce_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n,
                     ReduceOp op, cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return reduce(call, team, dest, source, n, op); },
        [&](const StreamTeam& t) { t.reduce_erased(dest, n, source, n, dtype<T>, op); });
}
template <class T>
int reduce_scatter_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n,
                             ReduceOp op, cudaStream_t stream) {
    return team_in_order(
        call, team, stream, [&] { return reduce_scatter(call, team, dest, source, n, op); },
        [&](const StreamTeam& t) {
            t.reduce_scatter_erased(dest, n, source, times(n, team_of(team)), dtype<T>, op);
        });
}

// The names of the operators.
#define ATOLL_NVSHMEM_REDUCTION(NAME, OP)                                                                    \
    template <class T>                                                                                       \
    int NAME##_reduce_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source,               \
                                std::size_t n, cudaStream_t stream) {                                        \
        return reduce_on_stream(call, team, dest, source, n, ReduceOp::OP, stream);                          \
    }                                                                                                        \
    template <class T>                                                                                       \
    int NAME##_reducescatter(const Call& call, shmem_team_t team, T* dest, const T* source, std::size_t n) { \
        return reduce_scatter(call, team, dest, source, n, ReduceOp::OP);                                    \
    }                                                                                                        \
    template <class T>                                                                                       \
    int NAME##_reducescatter_on_stream(const Call& call, shmem_team_t team, T* dest, const T* source,        \
                                       std::size_t n, cudaStream_t stream) {                                 \
        return reduce_scatter_on_stream(call, team, dest, source, n, ReduceOp::OP, stream);                  \
    }
ATOLL_NVSHMEM_REDUCTION(and, bit_and)
ATOLL_NVSHMEM_REDUCTION(or, bit_or)
ATOLL_NVSHMEM_REDUCTION(xor, bit_xor)
ATOLL_NVSHMEM_REDUCTION(max, max)
ATOLL_NVSHMEM_REDUCTION(min, min)
ATOLL_NVSHMEM_REDUCTION(sum, sum)
ATOLL_NVSHMEM_REDUCTION(prod, prod)
#undef ATOLL_NVSHMEM_REDUCTION

}  // namespace atl::nvshmem
