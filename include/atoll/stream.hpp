// Operations and collectives in the order of a CUDA stream, on device memory: asynchronous, captured by CUDA
// graphs like any other work of the stream, and replayed any number of times.
//
// Every call is local for the host: it checks its arguments, starts the work and returns; nothing is
// allocated, loaded or waited for. What a call did is complete, and visible to every PE, before the next work
// of its stream begins; so fence and quiet have nothing to do, and stand here for programs that name their
// order. Another stream is ordered by events, as CUDA's are; the host by synchronising.
//
// Symmetric addresses are of the device heap (Memory::device). Local ones are memory that the GPU reaches by
// itself: the device heap, cudaMalloc, pinned host memory. Throws Error: pe, not_symmetric, use_after_free,
// invalid_argument (a stream of another GPU, ordinary host memory), not_initialized (no device heap),
// unsupported (a build without kernels). A kernel that waits occupies a part of the GPU until another PE
// acts: what it waits for must not be behind it, on the same stream or in a kernel that finds no room.
#pragma once

#include "atoll/detail/stream_waits.hpp"
#include "atoll/elements.hpp"

namespace atl {

namespace device {
enum class Operation : int;  // atoll/device/control.hpp
}

/// A context's operations, on a stream. A value; the context and the stream outlive it. Made before a capture
/// begins: a team's first use on a GPU writes to it.
class ATOLL_API StreamContext : public detail::StreamWaits {
  public:
    StreamContext(const Context& context, Stream stream);

    // ---- data: as Context's of the same names
    template <Symmetric T> void put(T* dst, const T* src, std::size_t count, int pe) const {
        put_bytes(dst, src, bytes_of<T>(count), pe);
    }
    template <Symmetric T> void get(T* dst, const T* src, std::size_t count, int pe) const {
        get_bytes(dst, src, bytes_of<T>(count), pe);
    }
    /// One element of 1, 2, 4 or 8 bytes, read now: `value` need not stay.
    template <Symmetric T>
        requires(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8)  //
    void p(T* dst, std::type_identity_t<T> value, int pe) const { store(dst, bits(value), sizeof(T), pe); }
    template <Symmetric T>
    void iput(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count,
              int pe) const {
        strided({dst, src, dst_stride, src_stride, 1, count, sizeof(T)}, pe, true);
    }
    template <Symmetric T>
    void iget(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t count,
              int pe) const {
        strided({dst, src, dst_stride, src_stride, 1, count, sizeof(T)}, pe, false);
    }
    template <Symmetric T>
    void ibput(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t block,
               std::size_t n_blocks, int pe) const {
        strided({dst, src, dst_stride, src_stride, block, n_blocks, sizeof(T)}, pe, true);
    }
    template <Symmetric T>
    void ibget(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride, std::size_t block,
               std::size_t n_blocks, int pe) const {
        strided({dst, src, dst_stride, src_stride, block, n_blocks, sizeof(T)}, pe, false);
    }
    /// As Context's: the stride of local memory has any sign.
    void strided_any(const detail::StridedBlocks& blocks, int pe, bool is_put) const;
    void put_bytes(void* dst, const void* src, std::size_t bytes, int pe) const;
    void get_bytes(void* dst, const void* src, std::size_t bytes, int pe) const;

    // ---- many single elements of many PEs. Number and PE of each, and what is moved, are looked at when the
    // stream comes there; numbers count from the end where they are negative. A wrong number or PE in memory
    // of the GPU stops the kernel with a report (ErrorCode::kernel); with ATOLL_CHECK=none it is left out
    /// out[i] = src[index[i]] of PE pe[i].
    template <Symmetric T>
    void take(T* out, std::span<const std::type_identity_t<T>> src, Numbers index, Numbers pe,
              std::size_t count) const {
        elements(ElementsOp::take, src, index, pe, out, ElementsValues::each, count);
    }
    /// dst[index[i]] = values[i] on PE pe[i]; of several for one element any one is kept, or of elements of
    /// more than 8 bytes parts of several.
    template <Symmetric T>
    void put_at(std::span<std::type_identity_t<T>> dst, Numbers index, const T* values, Numbers pe,
                std::size_t count) const {
        elements<T>(ElementsOp::put_at, dst, index, pe, values, ElementsValues::each, count);
    }
    template <Symmetric T>
        requires(sizeof(T) <= 16)
    void put_at(std::span<T> dst, Numbers index, std::type_identity_t<T> value, Numbers pe,
                std::size_t count) const {
        elements<T>(ElementsOp::put_at, dst, index, pe, &value, ElementsValues::copied, count);
    }
    /// dst[index[i]] += values[i] on PE pe[i], each by an atomic_add.
    template <AddAtomic T>
    void add_at(std::span<std::type_identity_t<T>> dst, Numbers index, const T* values, Numbers pe,
                std::size_t count) const {
        elements<T>(ElementsOp::add_at, dst, index, pe, values, ElementsValues::each, count);
    }
    template <AddAtomic T>
    void add_at(std::span<T> dst, Numbers index, std::type_identity_t<T> value, Numbers pe,
                std::size_t count) const {
        elements<T>(ElementsOp::add_at, dst, index, pe, &value, ElementsValues::copied, count);
    }

    // ---- signals and waits
    template <Symmetric T>
    void put_signal(T* dst, const T* src, std::size_t count, std::uint64_t* signal, std::uint64_t value,
                    SignalOp op, int pe) const {
        put_signal_bytes(dst, src, bytes_of<T>(count), signal, value, op, pe);
    }
    void put_signal_bytes(void* dst, const void* src, std::size_t bytes, std::uint64_t* signal,
                          std::uint64_t value, SignalOp op, int pe) const;
    void signal_set(std::uint64_t* signal, std::uint64_t value, int pe) const {
        put_signal_bytes(signal, signal, 0, signal, value, SignalOp::set, pe);
    }
    void signal_add(std::uint64_t* signal, std::uint64_t value, int pe) const {
        put_signal_bytes(signal, signal, 0, signal, value, SignalOp::add, pe);
    }
    /// The stream goes on once this PE's `*signal cmp value`; it acquires. A replayed graph compares with the
    /// value that was captured: see signal_consume.
    void signal_wait_until(const std::uint64_t* signal, Compare cmp, std::uint64_t value) const;
    /// Waits until `*signal >= n`, then subtracts `n`: what one round of a replayed graph adds, the next one
    /// waits for.
    void signal_consume(std::uint64_t* signal, std::uint64_t n) const;
    template <Waitable T> void wait_until(const T* word, Compare cmp, std::type_identity_t<T> value) const {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number, and sign-extends
        wait(const_cast<T*>(word), dtype<T>, cmp, static_cast<std::uint64_t>(value));
    }
    // test, and waits and tests for many words: detail::StreamWaits
    void fence() const noexcept {}
    void quiet() const noexcept {}
    /// The host waits until all that the stream was given is done.
    void synchronize() const;

    // ---- atomics: what is fetched goes to `*fetch`, local memory
    template <ExtendedAtomic T> void atomic_fetch(T* fetch, const T* src, int pe) const {
        atomic(AtomicOp::fetch, dtype<T>, fetch, const_cast<T*>(src), 0, 0, pe);
    }
    template <ExtendedAtomic T> void atomic_set(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::set, dtype<T>, nullptr, dst, bits(value), 0, pe);
    }
    template <ExtendedAtomic T>
    void atomic_swap(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::swap, dtype<T>, fetch, dst, bits(value), 0, pe);
    }
    template <StandardAtomic T>
    void atomic_compare_swap(T* fetch, T* dst, std::type_identity_t<T> expected,
                             std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::compare_swap, dtype<T>, fetch, dst, bits(value), bits(expected), pe);
    }
    template <AddAtomic T>
    void atomic_fetch_add(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::fetch_add, dtype<T>, fetch, dst, bits(value), 0, pe);
    }
    template <AddAtomic T> void atomic_add(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::add, dtype<T>, nullptr, dst, bits(value), 0, pe);
    }
    template <AddAtomic T> void atomic_fetch_inc(T* fetch, T* dst, int pe) const {
        atomic_fetch_add(fetch, dst, T{1}, pe);
    }
    template <AddAtomic T> void atomic_inc(T* dst, int pe) const { atomic_add(dst, T{1}, pe); }
    template <BitwiseAtomic T>
    void atomic_fetch_and(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::fetch_and, dtype<T>, fetch, dst, bits(value), 0, pe);
    }
    template <BitwiseAtomic T> void atomic_and(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::bit_and, dtype<T>, nullptr, dst, bits(value), 0, pe);
    }
    template <BitwiseAtomic T>
    void atomic_fetch_or(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::fetch_or, dtype<T>, fetch, dst, bits(value), 0, pe);
    }
    template <BitwiseAtomic T> void atomic_or(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::bit_or, dtype<T>, nullptr, dst, bits(value), 0, pe);
    }
    template <BitwiseAtomic T>
    void atomic_fetch_xor(T* fetch, T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::fetch_xor, dtype<T>, fetch, dst, bits(value), 0, pe);
    }
    template <BitwiseAtomic T> void atomic_xor(T* dst, std::type_identity_t<T> value, int pe) const {
        atomic(AtomicOp::bit_xor, dtype<T>, nullptr, dst, bits(value), 0, pe);
    }

    // ---- erased forms
    void atomic(AtomicOp op, DType type, void* fetch, void* dst, std::uint64_t value, std::uint64_t compare,
                int pe) const;
    void wait(void* word, DType type, Compare cmp, std::uint64_t value) const;
    void elements(const Elements& which) const;

  private:
    template <class T>
    void elements(ElementsOp op, std::span<const T> array, const Numbers& index, const Numbers& pe,
                  const T* values, ElementsValues kind, std::size_t count) const {
        DType type = DType::uint8;
        if constexpr (detail::HasDType<T>) type = dtype<T>;
        elements({op, const_cast<T*>(array.data()), sizeof(T), array.size(), sizeof(T), type, index, pe,
                  const_cast<T*>(values), kind, count});
    }
    void wait(device::Operation as, void* word, DType type, Compare cmp, std::uint64_t value) const;
    void strided(const detail::StridedBlocks& copy, int pe, bool is_put) const;
    void store(void* dst, std::uint64_t bits, std::size_t bytes, int pe) const;
    template <class T> static std::size_t bytes_of(std::size_t count) noexcept {
        return detail::ContextBase::bytes_of<T>(count);
    }
    template <class T> static std::uint64_t bits(const T& value) noexcept {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, &value, sizeof value);
        return word;
    }
};

/// A team's collectives, on a stream. Called by all members in the same order with the same arguments, also
/// where they stand in graphs; those of one team run one after another, so a program that calls them on
/// several streams orders these by events. `dst` and `src` are symmetric, in the device heap, the same
/// objects on all members (but the `src` of broadcast and scatter, of which the root's alone is looked at:
/// others may pass an empty one), and complete locally: the next work of the stream may read `dst` and write
/// `src`. Either may instead be ordinary memory that the GPU reaches (cudaMalloc, pinned), on all members or
/// on none: a member with a symmetric array would wait for one without. Large messages then go in pieces
/// through the team's own memory, which takes longer. Symmetric remain the `src` of collect and alltoalls,
/// and beyond exchange size the root's `dst` of reduce_to and `src` of scatter (else not_symmetric).
/// Reductions are evaluated in PE order, halves in float: all members and all runs get the same bits. `dst`
/// may be `src` in reductions to every PE or to one, in scans and `broadcast`, and a PE's own block may stand
/// where it goes to in fcollect, gather and scatter; else they do not overlap. Errors as StreamContext's;
/// also shape_mismatch, dtype_mismatch, unsupported (a team without memory for it, see Team::device). Where a
/// transport reaches some members, threads of the host carry the calls out, apart from the program's own on
/// that team; what fails there ends the job by name.
class ATOLL_API StreamTeam {
  public:
    StreamTeam(const Team& team, Stream stream);

    /// All members' streams are here, and what they did before is visible to all.
    void sync() const;
    void barrier() const;
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void broadcast(Dst&& dst, detail::SourceFor<Dst> src, int root) const {
        broadcast_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void fcollect(Dst&& dst, detail::SourceFor<Dst> src) const {
        fcollect_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes());
    }
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void alltoall(Dst&& dst, detail::SourceFor<Dst> src) const {
        alltoall_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes());
    }
    /// Like fcollect with sizes that differ between PEs, also 0; nobody's `src` need stand where the others'
    /// do. A `dst` without room for all of it stops the kernel, and the job, with a report.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void collect(Dst&& dst, detail::SourceFor<Dst> src) const {
        collect_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes());
    }
    /// alltoall of `count` elements a block, strided: element i of block j at (j * count + i) * stride.
    template <Symmetric T>
    void alltoalls(T* dst, const T* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                   std::size_t count) const {
        alltoalls_bytes(dst, src, dst_stride, src_stride, count, sizeof(T));
    }
    /// Only the root's `dst` is looked at.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void gather(Dst&& dst, detail::SourceFor<Dst> src, int root) const {
        gather_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    /// Block i of the root's `src` goes to member i.
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>>
    void scatter(Dst&& dst, detail::SourceFor<Dst> src, int root) const {
        scatter_bytes(std::data(dst), detail::size_bytes(dst), src.data(), src.size_bytes(), root);
    }
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void reduce(Dst&& dst, detail::SourceFor<Dst> src, ReduceOp op) const {
        reduce_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op);
    }
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void sum_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::sum);
    }
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void prod_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::prod);
    }
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void min_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::min);
    }
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
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
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void reduce_scatter(Dst&& dst, detail::SourceFor<Dst> src, ReduceOp op) const {
        reduce_scatter_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op);
    }

    /// The result on `root` only, whose `dst` alone is looked at.
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void reduce_to(Dst&& dst, detail::SourceFor<Dst> src, ReduceOp op, int root) const {
        reduce_to_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, op, root);
    }
    /// dst = sum over PEs 0 … my_pe.
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void sum_inscan(Dst&& dst, detail::SourceFor<Dst> src) const {
        Team::check_equal(std::size(dst), src.size());
        scan_erased(std::data(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum, true);
    }
    /// dst = sum over PEs 0 … my_pe - 1; 0 on the first.
    template <detail::Array Dst, detail::HasDType T = detail::ElementOf<Dst>>
    void sum_exscan(Dst&& dst, detail::SourceFor<Dst> src) const {
        Team::check_equal(std::size(dst), src.size());
        scan_erased(std::data(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum, false);
    }

    /// The mean, of float, double and the half types.
    template <detail::Array Dst, Averaged T = detail::ElementOf<Dst>>
    void avg_reduce(Dst&& dst, detail::SourceFor<Dst> src) const {
        reduce(dst, src, ReduceOp::avg);
    }
    /// Sums of `factor`, the same on all members, times each element; half types are scaled in float.
    template <detail::Array Dst, Averaged T = detail::ElementOf<Dst>>
    void premul_sum_reduce(Dst&& dst, detail::SourceFor<Dst> src, double factor) const {
        reduce_scaled_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>, ReduceOp::sum,
                             factor);
    }
    template <detail::Array Dst, Averaged T = detail::ElementOf<Dst>>
    void premul_sum_reduce_scatter(Dst&& dst, detail::SourceFor<Dst> src, double factor) const {
        reduce_scatter_scaled_erased(std::data(dst), std::size(dst), src.data(), src.size(), dtype<T>,
                                     ReduceOp::sum, factor);
    }

    // ---- two-sided: matched in order between a pair. The stream goes on when the message was received. PEs
    // that both send first use a StreamMessageGroup. What is sent stands in the device heap, at any place;
    // what receives is memory that the GPU reaches. One stream of a PE at a time has messages of a team.
    // Sizes that differ stop the receiver's kernel, and the job, with a report
    template <detail::Array Src> void send(const Src& src, int pe) const {
        send_bytes(std::data(src), detail::size_bytes(src), pe);
    }
    template <detail::Array Dst, Symmetric T = detail::ElementOf<Dst>> void recv(Dst&& dst, int pe) const {
        recv_bytes(std::data(dst), detail::size_bytes(dst), pe);
    }
    void send_bytes(const void* src, std::size_t bytes, int pe) const;
    void recv_bytes(void* dst, std::size_t bytes, int pe) const;

    void broadcast_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                         int root) const;
    void fcollect_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void alltoall_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void collect_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes) const;
    void alltoalls_bytes(void* dst, const void* src, std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride,
                         std::size_t count, std::size_t element_bytes) const;
    void gather_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                      int root) const;
    void scatter_bytes(void* dst, std::size_t dst_bytes, const void* src, std::size_t src_bytes,
                       int root) const;
    void reduce_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count, DType type,
                       ReduceOp op) const;
    void reduce_scatter_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                               DType type, ReduceOp op) const;
    void reduce_scaled_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                              DType type, ReduceOp op, double factor) const;
    void reduce_scatter_scaled_erased(void* dst, std::size_t dst_count, const void* src,
                                      std::size_t src_count, DType type, ReduceOp op, double factor) const;
    void reduce_to_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count,
                          DType type, ReduceOp op, int root) const;
    /// Inclusive ones also with other operators than sum.
    void scan_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                     bool inclusive) const;

  private:
    Team team_;
    Stream stream_;
};

/// Sends and receives on a stream that progress together, 64 at most, each as StreamTeam's; those with the
/// same PE in the same direction keep their order. `run` starts them, and leaves the group empty.
class ATOLL_API StreamMessageGroup {
  public:
    StreamMessageGroup(const Team& team, Stream stream);
    void send_bytes(const void* src, std::size_t bytes, int pe) {
        messages_.push_back({const_cast<void*>(src), bytes, pe, true});
    }
    void recv_bytes(void* dst, std::size_t bytes, int pe) { messages_.push_back({dst, bytes, pe, false}); }
    /// Throws Error as StreamTeam's calls; also invalid_argument for more than 64.
    void run();

  private:
    Team team_;
    Stream stream_;
    std::vector<MessageGroup::Message> messages_;
};

}  // namespace atl
