// Team: an ordered set of PEs, with collectives and the creation of further teams (OpenSHMEM 1.6, sections
// 9.3, 9.11).
#pragma once

#include "atoll/context.hpp"
#include "atoll/device/team.hpp"

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace atl {

/// The elements of a message, which sender and receiver compare if both give them and ATOLL_CHECK is not
/// none.
struct MessageElements {
    char kind = '\0';         ///< NumPy's letter, such as 'f'; '\0': only sizes are compared
    std::uint32_t bytes = 0;  ///< of one; 0: not given
};
/// Numbers of more than one byte are compared by size. Bytes and classes are sent as raw memory.
template <class T>
inline constexpr MessageElements message_elements{
    '\0', std::is_arithmetic_v<T> && sizeof(T) > 1 ? static_cast<std::uint32_t>(sizeof(T)) : 0};

/// An ordered set of PEs and its collectives. All members call a collective in the same order, with the same
/// sizes, roots and operators (compared unless ATOLL_CHECK=none). Completion is local: on return this PE's
/// `dst` holds the result and its `src` may be reused. Only barrier completes outstanding puts. Reductions
/// are evaluated in PE order, so all PEs and all runs get the same bits.
///
/// Arrays may be symmetric or ordinary; symmetric ones are faster. `dst` and `src` are anything that
/// std::span takes: SymmetricArray, std::vector, std::array, a subspan. A call that throws for its arguments
/// has not taken part: the others wait until this PE repeats it correctly.
///
/// A handle: copies name the same team. `destroy` is explicit and collective; the destructor is local.
class ATOLL_API Team {
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
    /// (atoll/device/far.hpp). While idle it polls every 50 us. All kernels that get such a team must be
    /// compiled with ATOLL_DEVICE_FAR=1, which is also the default of `far`.
    device::Team device(Memory memory, bool far = ATOLL_DEVICE_FAR != 0) const;

    // ---- synchronisation
    /// Waits until all members have arrived. Earlier stores of each are visible to all. Does not complete
    /// puts.
    void sync() const;
    /// quiet on the team's default context, then sync.
    void barrier() const;

    // ---- data
    /// dst of every member, the root too, = src of `root`.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void broadcast(Dst&& dst, detail::SourceFor<Dst> src, int root) const {
        broadcast_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    /// dst = src of PE 0, 1, …, all of one size; dst holds n_pes times src.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void fcollect(Dst&& dst, detail::SourceFor<Dst> src) const {
        fcollect_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes());
    }
    /// Like fcollect with sizes that differ between PEs. Returns the number of received elements.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    std::size_t collect(Dst&& dst, detail::SourceFor<Dst> src) const {
        return collect_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes()) /
               sizeof(T);
    }
    /// Block j of my src becomes block my_pe of PE j's dst; `count` elements a block.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void alltoall(Dst&& dst, detail::SourceFor<Dst> src) const {
        alltoall_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes());
    }
    /// alltoall of `count` elements a block, strided: element i of block j at (j * count + i) * stride.
    template <Symmetric T>
    void alltoalls(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t count) const {
        alltoalls_bytes(dst, src, dst_stride, src_stride, count, sizeof(T));
    }
    /// dst on root = src of PE 0, 1, …; dst may be empty elsewhere.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void gather(Dst&& dst, detail::SourceFor<Dst> src, int root) const {
        gather_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    /// dst = block my_pe of root's src; src may be empty elsewhere.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void scatter(Dst&& dst, detail::SourceFor<Dst> src, int root) const {
        scatter_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes(), root);
    }

    // ---- reductions: element-wise over the members; dst may be src
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void reduce(Dst&& dst, detail::SourceFor<Dst> src, ReduceOp op) const {
        check_equal(std::size(dst), src.size());
        reduce_erased(std::data(dst), src.data(), src.size(), dtype<T>, op);
    }
    template <detail::Array Dst, SumReducible T = detail::ElementOf<Dst>>
    void sum_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::sum);
    }
    /// The mean, for floating-point elements.
    template <detail::Array Dst, Averaged T = detail::ElementOf<Dst>>
    void avg_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::avg);
    }
    /// Sums `factor` (the same on all members) times each element.
    template <detail::Array Dst, Averaged T = detail::ElementOf<Dst>>
    void premul_sum_reduce(Dst&& dst, detail::SourceFor<Dst> src, double factor) const {
        check_equal(std::size(dst), src.size());
        reduce_scaled_erased(std::data(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum, factor);
    }
    template <detail::Array Dst, SumReducible T = detail::ElementOf<Dst>>
    void prod_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::prod);
    }
    template <detail::Array Dst, Ordered T = detail::ElementOf<Dst>>
    void min_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::min);
    }
    template <detail::Array Dst, Ordered T = detail::ElementOf<Dst>>
    void max_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::max);
    }
    template <detail::Array Dst, BitwiseReducible T = detail::ElementOf<Dst>>
    void and_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::bit_and);
    }
    template <detail::Array Dst, BitwiseReducible T = detail::ElementOf<Dst>>
    void or_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::bit_or);
    }
    template <detail::Array Dst, BitwiseReducible T = detail::ElementOf<Dst>>
    void xor_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::bit_xor);
    }
    /// Result on `root` only; dst may be empty elsewhere.
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void reduce_to(Dst&& dst, detail::SourceFor<Dst> src, ReduceOp op, int root) const {
        reduce_to_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op, root);
    }
    /// dst = block my_pe of the reduction; src holds n_pes blocks of dst's size.
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void reduce_scatter(Dst&& dst, detail::SourceFor<Dst> src, ReduceOp op) const {
        reduce_scatter_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op);
    }
    /// Like premul_sum_reduce. For arrays in host memory it makes a scaled copy of src.
    template <detail::Array Dst, Averaged T = detail::ElementOf<Dst>>
    void premul_sum_reduce_scatter(Dst&& dst, detail::SourceFor<Dst> src, double factor) const {
        reduce_scatter_scaled_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>,
                                     ReduceOp::sum, factor);
    }
    /// dst = sum over PEs 0 … my_pe.
    template <detail::Array Dst, SumReducible T = detail::ElementOf<Dst>>
    void sum_inscan(Dst&& dst, detail::SourceFor<Dst> src) const {
        check_equal(std::size(dst), src.size());
        scan_erased(std::data(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum, true);
    }
    /// dst = sum over PEs 0 … my_pe - 1; 0 on the first.
    template <detail::Array Dst, SumReducible T = detail::ElementOf<Dst>>
    void sum_exscan(Dst&& dst, detail::SourceFor<Dst> src) const {
        check_equal(std::size(dst), src.size());
        scan_erased(std::data(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum, false);
    }

    // ---- two-sided: matched in order between a pair, by one thread at a time for each pair and direction. A
    // send may wait until it is received; PEs that both send first use a MessageGroup. Throws Error: pe,
    // timeout, pe_died. Unequal sizes throw shape_mismatch on the receiver, numbers of another size
    // dtype_mismatch, and the message is dropped; its send returns.
    template <detail::Array Src> void send(const Src& src, int pe) const {
        using T = std::remove_cvref_t<decltype(*std::data(src))>;
        send_bytes(std::data(src), detail::size_bytes(src), pe, message_elements<T>);
    }
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>> void recv(Dst&& dst, int pe) const {
        recv_bytes(std::data(dst), detail::size_bytes(dst), pe, message_elements<T>);
    }

    // ---- type-erased forms, for fronts that learn types at run time. Errors as above
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
