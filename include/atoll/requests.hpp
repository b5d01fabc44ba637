// Requests: non-blocking collectives of a team, on host memory.
#pragma once

#include "atoll/team.hpp"

#include <memory>
#include <string>

namespace atl {

/// Collectives of a team that are started and go on while the program computes. The typed operations are
/// Team's: `broadcast`, `fcollect`, `alltoall`, `gather`, `scatter`, `reduce` and its short names,
/// `reduce_to` and `reduce_scatter`. Each starts and returns. `test` and `wait` cover all that this object
/// has started.
///
///     atl::Requests requests(team);
///     requests.sum_reduce(dst, src);
///     compute();
///     requests.wait();
///
/// All members start the same collectives of a team in the same order, whatever objects they use. That is
/// compared always: operation, root, sizes, types and operators. They need not test or wait in this order,
/// nor at the same time. Blocking collectives of the team are independent. Arrays are any host memory. They
/// belong to the request until it is done: all members have started it, `dst` is complete on this PE, and
/// `src` may be reused. `dst` may be `src` in reductions. Results have the same bits as those of blocking
/// calls.
///
/// A thread that tests or waits moves the data; otherwise a thread of the team does. Any thread may use a
/// team's requests, one thread at a time each object.
///
/// Errors of arguments are thrown at the start, which then has not taken part. Later errors are thrown by
/// `test` and `wait`, on all members. They are collective_mismatch, pe_died and timeout. The first names two
/// members, their calls and the places of these in the program. The team's non-blocking collectives are
/// unusable afterwards, and say why.
///
/// A PE that waits, or does little but test, counts as waiting in reports of hangs.
///
/// The destructor is local. A collective that is not done then ends with an error, because its arrays may go.
/// The error names this PE, here and on the others. Wait before that, and before finalize: a collective that
/// is not done when the job ends fails with Error(not_initialized).
class ATOLL_API Requests : public detail::TeamOperations<Requests> {
  public:
    /// Local. Throws Error(unsupported) for a team whose members do not share memory.
    explicit Requests(const Team& team);
    ~Requests();
    Requests(Requests&&) noexcept;
    Requests& operator=(Requests&&) noexcept;
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;

    /// Returns true if all is done. Never waits.
    bool test();
    /// Waits until all is done. A limit of 0 s is ATOLL_WAIT_TIMEOUT, by default none. After
    /// Error(interrupted) the collectives go on.
    void wait(double timeout_s = 0);
    /// Describes the collective that was started last: "sum_reduce, non-blocking call 3 of the world team,
    /// started at solver.cpp:12 (main+0x4f)". Empty if none was started.
    std::string latest() const;
    /// Waits, in the background, until all members have arrived.
    void sync() const;

    // ---- type-erased forms
    void broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                         int root) const;
    void fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                      int root) const;
    void scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                       int root) const;
    void reduce_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count, DType type,
                       ReduceOp op) const;
    void reduce_to_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                          DType type, ReduceOp op, int root) const;
    void reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                               DType type, ReduceOp op) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace atl
