// TeamOperations: the typed collectives and messages of Team and StreamTeam. Both derive from it, so that
// they have the same operations for the same element types.
#pragma once

#include "atoll/context.hpp"

#include <cstdint>
#include <type_traits>

namespace atl {

/// The elements of a message, which sender and receiver compare if both give them and ATOLL_CHECK is not
/// none. Python's times and structured types have a code in place of the size.
struct MessageElements {
    char kind = '\0';         ///< NumPy's letter, such as 'f'; '\0': only sizes are compared
    std::uint32_t bytes = 0;  ///< bytes per element; 0: not given
};
/// Numbers of more than one byte are compared by size. Bytes and classes are sent as raw memory.
template <class T>
inline constexpr MessageElements message_elements{
    '\0', std::is_arithmetic_v<T> && sizeof(T) > 1 ? static_cast<std::uint32_t>(sizeof(T)) : 0};

namespace detail {

/// Typed operations over the type-erased ones of `Derived`. The documentation of Team and StreamTeam gives
/// their arguments, completion and errors.
template <class Derived> class TeamOperations {
  public:
    // ---- data
    /// dst of every member, the root too, = src of `root`.
    template <Array Dst, Symmetric T = ElementOf<Dst>>
    void broadcast(Dst&& dst, SourceFor<Dst> src, int root) const {
        self().broadcast_bytes(std::data(dst), size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    /// dst = src of PE 0, 1, …, all of one size; dst holds n_pes times src.
    template <Array Dst, Symmetric T = ElementOf<Dst>> void fcollect(Dst&& dst, SourceFor<Dst> src) const {
        self().fcollect_bytes(std::data(dst), size_bytes(dst), src.data(), src.size_bytes());
    }
    /// Like fcollect with sizes that differ between PEs, including 0. Team returns the number of received
    /// elements, StreamTeam nothing.
    template <Array Dst, Symmetric T = ElementOf<Dst>> auto collect(Dst&& dst, SourceFor<Dst> src) const {
        const auto bytes = [&] {
            return self().collect_bytes(std::data(dst), size_bytes(dst), src.data(), src.size_bytes());
        };
        if constexpr (std::is_void_v<decltype(bytes())>)
            bytes();
        else
            return bytes() / sizeof(T);
    }
    /// Block j of my src becomes block my_pe of PE j's dst.
    template <Array Dst, Symmetric T = ElementOf<Dst>> void alltoall(Dst&& dst, SourceFor<Dst> src) const {
        self().alltoall_bytes(std::data(dst), size_bytes(dst), src.data(), src.size_bytes());
    }
    /// alltoall of `count` elements a block, strided: element i of block j at (j * count + i) * stride.
    template <Symmetric T>
    void alltoalls(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t count) const {
        self().alltoalls_bytes(dst, src, dst_stride, src_stride, count, sizeof(T));
    }
    /// dst on root = src of PE 0, 1, …; dst may be empty elsewhere.
    template <Array Dst, Symmetric T = ElementOf<Dst>>
    void gather(Dst&& dst, SourceFor<Dst> src, int root) const {
        self().gather_bytes(std::data(dst), size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    /// dst = block my_pe of root's src; src may be empty elsewhere.
    template <Array Dst, Symmetric T = ElementOf<Dst>>
    void scatter(Dst&& dst, SourceFor<Dst> src, int root) const {
        self().scatter_bytes(std::data(dst), size_bytes(dst), src.data(), src.size_bytes(), root);
    }

    // ---- reductions: element-wise over the members; dst may be src
    template <Array Dst, HasDType T = ElementOf<Dst>>
    void reduce(Dst&& dst, SourceFor<Dst> src, ReduceOp op) const {
        self().reduce_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op);
    }
    template <Array Dst, SumReducible T = ElementOf<Dst>>
    void sum_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::sum);
    }
    /// The mean, for floating-point elements.
    template <Array Dst, Averaged T = ElementOf<Dst>> void avg_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::avg);
    }
    /// Sums `factor` (the same on all members) times each element; half types are scaled in float.
    template <Array Dst, Averaged T = ElementOf<Dst>>
    void premul_sum_reduce(Dst&& dst, SourceFor<Dst> src, double factor) const {
        self().reduce_scaled_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>,
                                    ReduceOp::sum, factor);
    }
    template <Array Dst, SumReducible T = ElementOf<Dst>>
    void prod_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::prod);
    }
    template <Array Dst, Ordered T = ElementOf<Dst>> void min_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::min);
    }
    template <Array Dst, Ordered T = ElementOf<Dst>> void max_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::max);
    }
    template <Array Dst, BitwiseReducible T = ElementOf<Dst>>
    void and_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::bit_and);
    }
    template <Array Dst, BitwiseReducible T = ElementOf<Dst>>
    void or_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::bit_or);
    }
    template <Array Dst, BitwiseReducible T = ElementOf<Dst>>
    void xor_reduce(Dst&& dst, SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::bit_xor);
    }
    /// Result on `root` only; dst may be empty elsewhere.
    template <Array Dst, HasDType T = ElementOf<Dst>>
    void reduce_to(Dst&& dst, SourceFor<Dst> src, ReduceOp op, int root) const {
        self().reduce_to_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op, root);
    }
    /// dst = block my_pe of the reduction; src holds n_pes blocks of dst's size.
    template <Array Dst, HasDType T = ElementOf<Dst>>
    void reduce_scatter(Dst&& dst, SourceFor<Dst> src, ReduceOp op) const {
        self().reduce_scatter_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op);
    }
    /// Like premul_sum_reduce. For arrays in host memory it makes a scaled copy of src.
    template <Array Dst, Averaged T = ElementOf<Dst>>
    void premul_sum_reduce_scatter(Dst&& dst, SourceFor<Dst> src, double factor) const {
        self().reduce_scatter_scaled_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>,
                                            ReduceOp::sum, factor);
    }
    /// dst = sum over PEs 0 … my_pe.
    template <Array Dst, SumReducible T = ElementOf<Dst>>
    void sum_inscan(Dst&& dst, SourceFor<Dst> src) const {
        self().scan_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum,
                           true);
    }
    /// dst = sum over PEs 0 … my_pe - 1; 0 on the first.
    template <Array Dst, SumReducible T = ElementOf<Dst>>
    void sum_exscan(Dst&& dst, SourceFor<Dst> src) const {
        self().scan_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum,
                           false);
    }

    // ---- two-sided: matched in order between a pair
    template <Array Src> void send(const Src& src, int pe) const {
        using T = std::remove_cvref_t<decltype(*std::data(src))>;
        self().send_bytes(std::data(src), size_bytes(src), pe, message_elements<T>);
    }
    template <Array Dst, Symmetric T = ElementOf<Dst>> void recv(Dst&& dst, int pe) const {
        self().recv_bytes(std::data(dst), size_bytes(dst), pe, message_elements<T>);
    }

  private:
    friend Derived;
    TeamOperations() = default;
    const Derived& self() const { return static_cast<const Derived&>(*this); }
};

}  // namespace detail

}  // namespace atl
