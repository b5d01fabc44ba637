// Team: an ordered set of PEs, with collectives and the creation of further teams (OpenSHMEM 1.6, sections
// 9.3, 9.11).
#pragma once

#include "atoll/detail/team_operations.hpp"
#include "atoll/device/team.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace atl {

/// An ordered set of PEs and its collectives. All members call a collective in the same order, with the same
/// sizes, roots and operators (compared unless ATOLL_CHECK=none). Completion is local: on return this PE's
/// `dst` holds the result and its `src` may be reused. Only barrier completes outstanding puts. Reductions
/// are evaluated in PE order, so all PEs and all runs get the same bits.
///
/// Arrays may be symmetric or ordinary; symmetric ones are faster. `dst` and `src` are anything that
/// std::span takes: SymmetricArray, std::vector, std::array, a subspan. A call that throws for its arguments
/// has not taken part: the others wait until this PE repeats it correctly.
///
/// Messages are matched in order between a pair, by one thread at a time for each pair and direction. A send
/// may wait until it is received; PEs that both send first use a MessageGroup. Throws Error: pe, timeout,
/// pe_died. Unequal sizes throw shape_mismatch on the receiver, numbers of another size dtype_mismatch, and
/// the message is dropped; its send returns.
///
/// A handle: copies name the same team. `destroy` is explicit and collective; the destructor is local.
class ATOLL_API Team : public detail::TeamOperations<Team> {
  public:
    Team() = default;
    explicit Team(std::shared_ptr<core::TeamState> state) : state_(std::move(state)) {}

    explicit operator bool() const noexcept { return state_ != nullptr; }
    friend bool operator==(const Team& a, const Team& b) noexcept { return a.state_ == b.state_; }
    core::TeamState& state() const;  ///< throws Error(use_after_free) for an empty handle

    int my_pe() const;
    int n_pes() const;
    /// World PE of team PE `pe`.
    int world_pe(int pe) const;
    /// The number of this team's `pe` in `other`; -1 if it is not a member.
    int translate_pe(int pe, const Team& other) const;

    // ---- splits: collective over this team; the new team is usable at once; other PEs get an empty Team
    Team split_strided(int start, int stride, int size) const;
    /// First team: this PE's row of `xrange` consecutive PEs; second: its column.
    std::pair<Team, Team> split_2d(int xrange) const;
    /// PEs of equal `color` form a team, ordered by `key`, then by PE. A negative color joins none.
    Team split(int color, int key = 0) const;
    /// Collective over the team. All handles become unusable.
    void destroy();

    /// A context whose PE numbers are this team's. Local. Contexts of a team end with it.
    Context create_context(const ContextOptions& options = {}) const;
    /// The team's default context.
    const Context& context() const;
    /// This team over one kind of memory: the argument of kernels and of the functions of atoll/device.
    /// Local. Valid until the team is destroyed; no kernel may use it then. Throws Error: not_initialized (no
    /// device memory was allocated yet). Throws Error(unsupported) for more than 64 members, more than 64
    /// teams alive at once, or PEs outside the window. Such PEs are allowed with `far` and the device heap.
    ///
    /// With `far` a thread of the host serves kernels that address PEs outside the window
    /// (atoll/device/detail/far.hpp). While idle it polls every 50 us. All kernels that get such a team must
    /// be compiled with ATOLL_DEVICE_FAR=1, which is also the default of `far`.
    device::Team device(Memory memory, bool far = ATOLL_DEVICE_FAR != 0) const;

    // ---- synchronisation
    /// Waits until all members have arrived. Earlier stores of each are visible to all. Does not complete
    /// puts.
    void sync() const;
    /// quiet on the team's default context, then sync.
    void barrier() const;

    // ---- type-erased forms, for fronts that learn types at run time. Errors as above. With two counts they
    // also throw shape_mismatch
    void broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                         int root) const;
    void fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    std::size_t collect_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void alltoalls_bytes(void* dst, const void* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                         std::size_t count, std::size_t element_bytes) const;
    void gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                      int root) const;
    void scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                       int root) const;
    void reduce_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op) const;
    void reduce_scaled_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                              double factor) const;
    void reduce_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count, DType type,
                       ReduceOp op) const {
        check_equal(dst_count, src_count);
        reduce_erased(dst, src, src_count, type, op);
    }
    void reduce_scaled_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                              DType type, ReduceOp op, double factor) const {
        check_equal(dst_count, src_count);
        reduce_scaled_erased(dst, src, src_count, type, op, factor);
    }
    void scan_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count, DType type,
                     ReduceOp op, bool inclusive) const {
        check_equal(dst_count, src_count);
        scan_erased(dst, src, src_count, type, op, inclusive);
    }
    void reduce_to_erased(void* dst, std::size_t dst_count, const void* src, std::size_t count, DType type,
                          ReduceOp op, int root) const;
    void reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                               DType type, ReduceOp op) const;
    void reduce_scatter_scaled_erased(void* dst, std::size_t dst_count, const void* src,
                                      std::size_t src_count, DType type, ReduceOp op, double factor) const;
    void scan_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                     bool inclusive) const;
    void send_bytes(const void* src, std::size_t bytes, int pe, MessageElements elements = {}) const;
    void recv_bytes(void* dst, std::size_t bytes, int pe, MessageElements elements = {}) const;

  private:
    friend class StreamTeam;
    static void check_equal(std::size_t dst, std::size_t src);
    std::shared_ptr<core::TeamState> state_;
};

/// Several sends and receives that progress together. Only those with the same PE in the same direction keep
/// their order. `run` returns when all are done, and empties the group. If one fails, its error is thrown
/// once the others are done.
class ATOLL_API MessageGroup {
  public:
    explicit MessageGroup(Team team) : team_(std::move(team)) {}
    void send_bytes(const void* src, std::size_t bytes, int pe, MessageElements elements = {}) {
        messages_.push_back({const_cast<void*>(src), bytes, pe, true, elements});
    }
    void recv_bytes(void* dst, std::size_t bytes, int pe, MessageElements elements = {}) {
        messages_.push_back({dst, bytes, pe, false, elements});
    }
    void run();

    struct Message {
        void* data;
        std::size_t bytes;
        int pe;
        bool is_send;
        MessageElements elements = {};
    };

  private:
    Team team_;
    std::vector<Message> messages_;
};

}  // namespace atl
