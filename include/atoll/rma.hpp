// Puts, gets, strided forms, put-with-signal, and their ordering (OpenSHMEM 1.6, sections 9.5, 9.7, 9.8 and
// 9.10).
#pragma once

#include "atoll/detail/context_base.hpp"

#include <span>

namespace atl::detail {

class ATOLL_API RmaOps : public ContextBase {
  public:
    // ---- contiguous
    /// Copies `count` elements from local `src` to symmetric `dst` on `pe`. Returns when `src` may be reused.
    /// The data have arrived after quiet or a barrier; a fence orders them. Throws Error: pe, not_symmetric,
    /// invalid_argument for a null `src`; with ATOLL_CHECK=args use_after_free too. All functions below throw
    /// the same.
    template <Symmetric T> void put(T* dst, const T* src, std::size_t count, int pe) const {
        put_bytes(dst, src, bytes_of<T>(count), pe, true);
    }
    /// Copies all of `src` to the beginning of `dst`, which may be longer. Throws Error(invalid_argument) if
    /// it is shorter.
    template <Array Dst, Symmetric T = ElementOf<Dst>> void put(Dst&& dst, SourceFor<Dst> src, int pe) const {
        check_sizes(std::size(dst), src.size());
        put(std::data(dst), src.data(), src.size(), pe);
    }
    /// Like put, but `src` must not change until quiet.
    template <Symmetric T> void put_nbi(T* dst, const T* src, std::size_t count, int pe) const {
        put_bytes(dst, src, bytes_of<T>(count), pe, false);
    }
    /// Copies `count` elements from symmetric `src` on `pe` to local `dst`. The data have arrived on return.
    template <Symmetric T> void get(T* dst, const T* src, std::size_t count, int pe) const {
        get_bytes(dst, src, bytes_of<T>(count), pe, true);
    }
    /// Copies all of `src` to the beginning of `dst`, which may be longer. Throws Error(invalid_argument) if
    /// it is shorter.
    template <Array Dst, Symmetric T = ElementOf<Dst>> void get(Dst&& dst, SourceFor<Dst> src, int pe) const {
        check_sizes(std::size(dst), src.size());
        get(std::data(dst), src.data(), src.size(), pe);
    }
    /// Like get, but the data arrive only by quiet.
    template <Symmetric T> void get_nbi(T* dst, const T* src, std::size_t count, int pe) const {
        get_bytes(dst, src, bytes_of<T>(count), pe, false);
    }
    /// Stores one element into symmetric `dst` on `pe`. Ordered like put.
    template <Symmetric T> void p(T* dst, T value, int pe) const {
        put_from<Local::own>(dst, &value, sizeof(T), pe, true);
    }
    /// Loads one element from symmetric `src` on `pe`.
    template <Symmetric T> T g(const T* src, int pe) const {
        T value;
        get_to<Local::own>(&value, src, sizeof(T), pe, true);
        return value;
    }

    // ---- strided
    /// dst[i * dst_stride] on `pe` = src[i * src_stride] for i < count; strides in elements, at least 1.
    template <Symmetric T>
    void iput(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count,
              int pe) const {
        ibput(dst, src, dst_stride, src_stride, 1, count, pe);
    }
    template <Symmetric T>
    void iget(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count,
              int pe) const {
        ibget(dst, src, dst_stride, src_stride, 1, count, pe);
    }
    /// Copies `n_blocks` blocks of `block` elements, block i at i * stride. Strides are in elements, at least
    /// `block` unless there is one block.
    template <Symmetric T>
    void ibput(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t block,
               std::size_t n_blocks, int pe) const {
        if (block == 0 || n_blocks == 0) return check_pe(pe);
        check_strides(dst_stride, src_stride);
        check_local_memory(src, extent_bytes(src_stride, block, n_blocks, sizeof(T)));
        const Slot slot = route_any(dst, extent_bytes(dst_stride, block, n_blocks, sizeof(T)), pe);
        if (slot.is_near() && !has_devices()) [[likely]] {
            copy_blocks(window_.at(dst, slot), src, dst_stride, src_stride, block, n_blocks);
            return;
        }
        blocks_routed(*state_, {dst, src, dst_stride, src_stride, block, n_blocks, sizeof(T)}, pe, true);
    }
    template <Symmetric T>
    void ibget(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t block,
               std::size_t n_blocks, int pe) const {
        if (block == 0 || n_blocks == 0) return check_pe(pe);
        check_strides(dst_stride, src_stride);
        check_local_memory(dst, extent_bytes(dst_stride, block, n_blocks, sizeof(T)));
        const Slot slot = route_any(src, extent_bytes(src_stride, block, n_blocks, sizeof(T)), pe);
        if (slot.is_near() && !has_devices()) [[likely]] {
            copy_blocks(dst, window_.at(src, slot), dst_stride, src_stride, block, n_blocks);
            return;
        }
        blocks_routed(*state_, {dst, src, dst_stride, src_stride, block, n_blocks, sizeof(T)}, pe, false);
    }

    /// ibput (`is_put`) or ibget for any views of arrays, as Python has them. The local stride may have any
    /// sign. In a put, a source stride of 0 repeats a block. Local memory is a GPU's or reached by loads and
    /// stores.
    void strided_any(const StridedBlocks& blocks, int pe, bool is_put) const;

    // ---- put with signal
    /// Puts, then sets `signal` on `pe` to `value` or adds `value` to it, after the data have arrived. A PE
    /// that sees the signal (signal_wait_until, signal_fetch) sees this call's data, and no other call's. A
    /// count of 0 still signals.
    template <Symmetric T>
    void put_signal(T* dst, const T* src, std::size_t count, std::uint64_t* signal, std::uint64_t value,
                    SignalOp op, int pe) const {
        put_signal_bytes(dst, src, bytes_of<T>(count), signal, value, op, pe);
    }
    template <Symmetric T>
    void put_signal_nbi(T* dst, const T* src, std::size_t count, std::uint64_t* signal, std::uint64_t value,
                        SignalOp op, int pe) const {
        put_signal_bytes<false>(dst, src, bytes_of<T>(count), signal, value, op, pe);
    }
    void signal_set(std::uint64_t* signal, std::uint64_t value, int pe) const {
        signal_op(signal_address(SignalOp::set, signal, value, pe), signal, value, SignalOp::set, pe);
    }
    void signal_add(std::uint64_t* signal, std::uint64_t value, int pe) const {
        signal_op(signal_address(SignalOp::add, signal, value, pe), signal, value, SignalOp::add, pe);
    }
    /// Loads this PE's own signal word, with acquire order.
    std::uint64_t signal_fetch(const std::uint64_t* signal) const {
        if (!route_any(signal, sizeof *signal, map_.my_pe).is_near() && is_on_device(signal)) [[unlikely]]
            return load_device_word(*state_, signal, sizeof *signal);
        if (window_.routed) [[unlikely]]
            progress_routed(*job_);
        return atomic_load(signal);
    }

    // ---- order
    /// Orders puts: those to a PE after the fence arrive after those made to it before, on this context.
    /// Local.
    void fence() const {
        std::atomic_thread_fence(std::memory_order_release);
        if (window_.orders) order_routed(*state_, -1, false);
    }
    /// All operations of this context, and this thread's stores, are complete and visible to every PE on
    /// return. Local.
    void quiet() const {
        if (window_.orders) order_routed(*state_, -1, true);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    /// quiet towards the given PEs of the team.
    void pe_quiet(std::span<const int> pes) const {
        for (const int pe : pes) {
            check_pe(pe);
            if (window_.orders) order_routed(*state_, pe, true);
        }
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }

    // ---- bytes
    void put_bytes(void* dst, const void* src, std::size_t bytes, int pe, bool blocking = true) const {
        put_from<Local::any>(dst, src, bytes, pe, blocking);
    }
    void get_bytes(void* dst, const void* src, std::size_t bytes, int pe, bool blocking = true) const {
        get_to<Local::any>(dst, src, bytes, pe, blocking);
    }
    /// p and g of `bytes` bytes, whose local memory is the caller's own variable in host memory.
    void p_bytes(void* dst, const void* value, std::size_t bytes, int pe) const {
        put_from<Local::own>(dst, value, bytes, pe, true);
    }
    void g_bytes(void* value, const void* src, std::size_t bytes, int pe) const {
        get_to<Local::own>(value, src, bytes, pe, true);
    }
    template <bool Blocking = true>
    void put_signal_bytes(void* dst, const void* src, std::size_t bytes, std::uint64_t* signal,
                          std::uint64_t value, SignalOp op, int pe) const {
        // The signal address is checked before the data move: a call that is refused moves nothing.
        std::uint64_t* const word = signal_address(op, signal, value, pe);
        if (bytes != 0) {
            check_local_memory(src, bytes);
            if (const Slot there = route_any(dst, bytes, pe); there.is_near() && !has_devices()) [[likely]]
                copy_for_reader(window_.at(dst, there), src, bytes, window_.nontemporal_bytes);
            else
                return put_signal_routed(*state_, dst, src, bytes, signal, value, op, pe, Blocking);
        }
        signal_op(word, signal, value, op, pe);
    }

  protected:
    RmaOps() = default;

  private:
    /// Kind of local memory: the caller's, which may be a GPU's, or an object of the calling function itself.
    enum class Local { any, own };
    template <Local From>
    void put_from(void* dst, const void* src, std::size_t bytes, int pe, bool blocking) const {
        if (bytes == 0) return check_pe(pe);
        if (!is_in_heap(dst, bytes, pe) || (From == Local::any && (src == nullptr || has_devices())))
            [[unlikely]]
            return put_elsewhere(dst, src, bytes, pe, kind_of<From>(blocking));
        const Slot slot = map_.slot(pe);
        if (slot.is_near()) [[likely]]
            copy(window_.heap_at(dst, slot), src, bytes);
        else
            put_routed(*state_, dst, src, bytes, pe, blocking);
    }
    template <Local To>
    void get_to(void* dst, const void* src, std::size_t bytes, int pe, bool blocking) const {
        if (bytes == 0) return check_pe(pe);
        if (!is_in_heap(src, bytes, pe) || (To == Local::any && (dst == nullptr || has_devices())))
            [[unlikely]]
            return get_elsewhere(dst, src, bytes, pe, kind_of<To>(blocking));
        const Slot slot = map_.slot(pe);
        if (slot.is_near()) [[likely]]
            copy(dst, window_.heap_at(src, slot), bytes);
        else
            get_routed(*state_, dst, src, bytes, pe, blocking);
    }
    // Out of line and called last, so that the fast path keeps its registers.
    enum class Move { nonblocking, blocking, element };
    template <Local Memory> static constexpr Move kind_of(bool blocking) {
        return Memory == Local::own ? Move::element : blocking ? Move::blocking : Move::nonblocking;
    }
    void put_elsewhere(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const;
    /// With and without a note for hang reports.
    void put_noted(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const;
    void put_unnoted(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const;
    void get_elsewhere(void* dst, const void* src, std::size_t bytes, int pe, Move kind) const;
    static void check_sizes(std::size_t dst, std::size_t src) {
        if (dst < src) throw_size(dst, src);
    }
    [[noreturn]] static void throw_size(std::size_t dst, std::size_t src);
    void check_strides(std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride) const {
        if (window_.check && (dst_stride < 1 || src_stride < 1)) throw_stride(dst_stride, src_stride);
    }
    template <class T>
    static void copy_blocks(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                            std::size_t block, std::size_t n_blocks) {
        for (std::size_t i = 0; i < n_blocks; ++i, dst += dst_stride, src += src_stride)
            copy(dst, src, block * sizeof(T));
    }
    std::uint64_t* signal_address(SignalOp op, std::uint64_t* signal, std::uint64_t value, int pe) const {
        std::uint64_t* const there = address_for(op, signal, value, pe);
        check_aligned(signal, sizeof *signal);
        return there;
    }
    /// `there` is the address at which `signal` of `pe` can be stored to, or null.
    void signal_op(std::uint64_t* there, std::uint64_t* signal, std::uint64_t value, SignalOp op,
                   int pe) const {
        if (there == nullptr) [[unlikely]] {
            signal_routed(*state_, signal, value, op, pe);
        } else if (op == SignalOp::set) {
            atomic_store(there, value);
        } else {
            atomic_add(there, value);
        }
    }
};

}  // namespace atl::detail
