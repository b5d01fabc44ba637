// Stream-ordered operations and collectives on device memory: asynchronous, and captured by CUDA graphs like
// any other work. A captured graph may be replayed any number of times.
//
// Every call is local for the host: it checks its arguments, enqueues the work and returns. It allocates
// nothing, loads nothing and does not wait. A call is complete, and its effects visible to every PE, before
// the next work of its stream begins. So fence and quiet are empty; they exist for programs that state their
// order. Order other streams by events, and the host by synchronising.
//
// Symmetric addresses are in the device heap (Memory::device). Local ones are memory that the GPU can access:
// the device heap, cudaMalloc, pinned host memory. Throws Error: pe, not_symmetric, use_after_free,
// invalid_argument (a stream of another GPU, ordinary host memory), not_initialized (no device heap),
// unsupported (a build without kernels).
//
// A waiting kernel occupies a part of the GPU until another PE acts. The awaited work must not be queued
// behind it, on the same stream or in a kernel that finds no room.
#pragma once

#include "atoll/detail/stream_waits.hpp"
#include "atoll/elements.hpp"

namespace atl {

namespace device {
enum class Operation : int;  // atoll/device/control.hpp
}

/// A context's operations, on a stream. A value; context and stream must outlive it. Construct it before a
/// capture begins: a team's first use on a GPU writes to it.
class ATOLL_API StreamContext : public detail::StreamWaits {
  public:
    StreamContext(const Context& context, Stream stream);

    // ---- data: the operations of Context with the same names
    template <Symmetric T> void put(T* dst, const T* src, std::size_t count, int pe) const {
        put_bytes(dst, src, bytes_of<T>(count), pe);
    }
    template <Symmetric T> void get(T* dst, const T* src, std::size_t count, int pe) const {
        get_bytes(dst, src, bytes_of<T>(count), pe);
    }
    /// Stores one element of 1, 2, 4 or 8 bytes. `value` is read before the call returns.
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
    /// Like Context's: the stride of local memory may have any sign.
    void strided_any(const detail::StridedBlocks& blocks, int pe, bool is_put) const;
    void put_bytes(void* dst, const void* src, std::size_t bytes, int pe) const;
    void get_bytes(void* dst, const void* src, std::size_t bytes, int pe) const;

    // ---- many single elements of many PEs. Indices, PEs and the moved elements are read in stream order;
    // negative indices count from the end. A wrong index or PE in GPU memory stops the kernel with a report
    // (ErrorCode::kernel). With ATOLL_CHECK=none such an element is skipped
    //
    /// out[i] = src[index[i]] of PE pe[i].
    template <Symmetric T>
    void take(T* out, std::span<const std::type_identity_t<T>> src, Numbers index, Numbers pe,
              std::size_t count) const {
        elements(ElementsOp::take, src, index, pe, out, ElementsValues::each, count);
    }
    /// dst[index[i]] = values[i] on PE pe[i]. If several values go to one element, it keeps any one of them;
    /// elements over 8 bytes may mix parts of several.
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
    /// The stream continues once this PE's `*signal cmp value`; it acquires. A replayed graph compares with
    /// the captured value: see signal_consume.
    void signal_wait_until(const std::uint64_t* signal, Compare cmp, std::uint64_t value) const;
    /// Waits until `*signal >= n`, then subtracts `n`. So each replay of a graph waits for the additions of
    /// its own round.
    void signal_consume(std::uint64_t* signal, std::uint64_t n) const;
    template <Waitable T> void wait_until(const T* word, Compare cmp, std::type_identity_t<T> value) const {
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8_t is a number, and sign-extends
        wait(const_cast<T*>(word), dtype<T>, cmp, static_cast<std::uint64_t>(value));
    }
    // test, and waits and tests for many words: detail::StreamWaits
    void fence() const noexcept {}
    void quiet() const noexcept {}
    /// Blocks the host until all work of the stream is done.
    void synchronize() const;

    // ---- atomics: the fetched value goes to `*fetch`, local memory
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

/// A team's collectives, on a stream. All members call them in the same order with the same arguments, also
/// within graphs. Collectives of one team run one after another: a program that uses several streams orders
/// them by events.
///
/// `dst` and `src` are symmetric, in the device heap, the same objects on all members. Only the root's `src`
/// of broadcast and scatter is read, so the others may pass an empty one. Completion is local: the next work
/// of the stream may read `dst` and write `src`.
///
/// Either may instead be ordinary memory that the GPU can access (cudaMalloc, pinned), on all members or on
/// none. (A member with a symmetric array would wait for one without.) Large messages then go in pieces
/// through the team's own memory, which takes longer. The `src` of collect and alltoalls must be symmetric.
/// Beyond exchange size so must the root's `dst` of reduce_to and `src` of scatter. Otherwise they throw
/// not_symmetric.
///
/// A `dst` of collect that is too small stops the kernel and the job with a report.
///
/// Messages: the stream continues once the message was received. PEs that both send first use a
/// StreamMessageGroup. A source is anywhere in the device heap; a target is memory that the GPU can access.
/// Only one stream of a PE at a time may have messages of a team. Unequal sizes stop the receiver's kernel
/// and the job with a report.
///
/// Reductions are evaluated in PE order, half types in float, so all members and all runs get the same bits.
/// `dst` may be `src` in reductions, reduce_to, scans and `broadcast`. In fcollect, gather and scatter a PE's
/// `src` may be its own block of `dst`. Other overlaps are not allowed.
///
/// Throws the errors of StreamContext; also shape_mismatch, dtype_mismatch, unsupported (a team without
/// device memory, see Team::device). If only a transport reaches some members, threads of the host carry out
/// the calls. These do not interfere with the program's own calls on that team; their errors end the job with
/// a report.
class ATOLL_API StreamTeam : public detail::TeamOperations<StreamTeam> {
  public:
    StreamTeam(const Team& team, Stream stream);

    /// Waits in stream order until all members' streams have arrived. Earlier work of each is visible to all.
    void sync() const;
    void barrier() const;

    // ---- type-erased forms. The elements of messages are not compared
    void send_bytes(const void* src, std::size_t bytes, int pe, MessageElements elements = {}) const;
    void recv_bytes(void* dst, std::size_t bytes, int pe, MessageElements elements = {}) const;

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
    /// The inclusive scan also takes operators other than sum.
    void scan_erased(void* dst, const void* src, std::size_t count, DType type, ReduceOp op,
                     bool inclusive) const;
    void scan_erased(void* dst, std::size_t dst_count, const void* src, std::size_t src_count, DType type,
                     ReduceOp op, bool inclusive) const {
        Team::check_equal(dst_count, src_count);
        scan_erased(dst, src, src_count, type, op, inclusive);
    }

  private:
    Team team_;
    Stream stream_;
};

/// Up to 64 sends and receives on a stream that progress together, each like StreamTeam's. Those with the
/// same PE in the same direction keep their order. `run` enqueues them and empties the group.
class ATOLL_API StreamMessageGroup {
  public:
    StreamMessageGroup(const Team& team, Stream stream);
    void send_bytes(const void* src, std::size_t bytes, int pe) {
        messages_.push_back({const_cast<void*>(src), bytes, pe, true});
    }
    void recv_bytes(void* dst, std::size_t bytes, int pe) { messages_.push_back({dst, bytes, pe, false}); }
    /// Throws the errors of StreamTeam's calls; also invalid_argument for more than 64.
    void run();

  private:
    Team team_;
    Stream stream_;
    std::vector<MessageGroup::Message> messages_;
};

}  // namespace atl
