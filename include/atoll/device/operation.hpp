// The operations by which kernels and streams report what they do. The enumeration, the names in error
// texts and the numbers for kernels in Python are made from the list below.
#pragma once

/// Calls `X(name, text)` for each operation; `text` is its name in errors. The first group waits. The second
/// one reports an invalid PE or an address that is not symmetric. Its atomics follow the order of AtomicOp.
/// The third group waits for the host if the team has far PEs. Only streams have the fourth. api/kernels.py
/// writes the list from api/kernels.toml.
#define ATOLL_DEVICE_OPERATIONS(X)                      \
    /* ---- waits */                                    \
    X(none, "a wait")                                   \
    X(signal_wait_until, "signal_wait_until")           \
    X(signal_consume, "signal_consume")                 \
    X(local_wait_until, "local_wait_until")             \
    X(wait_until, "wait_until")                         \
    X(wait_until_all, "wait_until_all")                 \
    X(wait_until_any, "wait_until_any")                 \
    X(wait_until_some, "wait_until_some")               \
    X(wait_until_all_vector, "wait_until_all_vector")   \
    X(wait_until_any_vector, "wait_until_any_vector")   \
    X(wait_until_some_vector, "wait_until_some_vector") \
    X(receive, "receive")                               \
    X(post, "post")                                     \
    X(send, "send")                                     \
    X(recv, "recv")                                     \
    X(grid_sync, "sync of a grid")                      \
    X(sync, "sync")                                     \
    X(barrier, "barrier")                               \
    X(broadcast, "broadcast")                           \
    X(fcollect, "fcollect")                             \
    X(collect, "collect")                               \
    X(alltoall, "alltoall")                             \
    X(gather, "gather")                                 \
    X(scatter, "scatter")                               \
    X(reduce, "reduce")                                 \
    X(reduce_scatter, "reduce_scatter")                 \
    X(tile_reduce, "tile_reduce")                       \
    X(tile_rooted_reduce, "tile_rooted_reduce")         \
    X(tile_allgather, "tile_allgather")                 \
    X(tile_broadcast, "tile_broadcast")                 \
    /* ---- checks addresses */                         \
    X(peer, "peer")                                     \
    X(ptr, "ptr")                                       \
    X(p, "p")                                           \
    X(g, "g")                                           \
    X(put, "put")                                       \
    X(get, "get")                                       \
    X(put_nbi, "put_nbi")                               \
    X(get_nbi, "get_nbi")                               \
    X(iput, "iput")                                     \
    X(iget, "iget")                                     \
    X(atomic, "an atomic")                              \
    X(atomic_fetch, "atomic_fetch")                     \
    X(atomic_set, "atomic_set")                         \
    X(atomic_swap, "atomic_swap")                       \
    X(atomic_compare_swap, "atomic_compare_swap")       \
    X(atomic_add, "atomic_add")                         \
    X(atomic_fetch_add, "atomic_fetch_add")             \
    X(atomic_and, "atomic_and")                         \
    X(atomic_fetch_and, "atomic_fetch_and")             \
    X(atomic_or, "atomic_or")                           \
    X(atomic_fetch_or, "atomic_fetch_or")               \
    X(atomic_xor, "atomic_xor")                         \
    X(atomic_fetch_xor, "atomic_fetch_xor")             \
    X(signal_set, "signal_set")                         \
    X(signal_add, "signal_add")                         \
    X(put_signal, "put_signal")                         \
    X(put_signal_nbi, "put_signal_nbi")                 \
    X(async_put, "async_put")                           \
    X(tile_put, "tile_put")                             \
    X(tile_get, "tile_get")                             \
    /* ---- completion and ordering */                  \
    X(quiet, "quiet")                                   \
    X(fence, "fence")                                   \
    X(flush, "flush")                                   \
    /* ---- only streams */                             \
    X(take, "take")                                     \
    X(put_at, "put_at")                                 \
    X(add_at, "add_at")                                 \
    X(alltoalls, "alltoalls")                           \
    X(scan, "scan")

namespace atl::device {

/// Operations as named by their callers; the host prints them.
enum class Operation : int {
#define ATOLL_NUMBERED(name, text) name,
    ATOLL_DEVICE_OPERATIONS(ATOLL_NUMBERED)
#undef ATOLL_NUMBERED
};

}  // namespace atl::device
