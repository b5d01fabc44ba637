// ContextBase: the checks and the routing with which every operation of a context begins.
#pragma once

#include "atoll/detail/memory_ops.hpp"
#include "atoll/detail/wait.hpp"
#include "atoll/detail/window.hpp"
#include "atoll/types.hpp"

#include <memory>

namespace atl::core {
class ContextState;
class JobState;
class TeamState;
}  // namespace atl::core

namespace atl::detail {

[[noreturn]] ATOLL_API void throw_misaligned(const void* address, std::size_t needed);

class ATOLL_API ContextBase {
  public:
    /// Rank of this PE in the context's team.
    int my_pe() const noexcept { return map_.my_pe; }
    /// Number of PEs of the context's team; PE arguments count from 0 within it.
    int n_pes() const noexcept { return map_.n_pes; }

    core::ContextState& state() const noexcept { return *state_; }
    const Window& window() const noexcept { return window_; }
    /// Lets the next moves take the slow path, which notes them. For signal handlers, too: it only stores.
    void note_next_moves() const noexcept { window_.set_fast_limit(0); }
    const TeamMap& map() const noexcept { return map_; }
    core::JobState& job() const noexcept { return *job_; }
    int spins() const noexcept { return spins_; }
    /// True if the job has a device heap. Local memory may then be a GPU's, which the host cannot load, so
    /// every copy asks this first.
    bool has_devices() const noexcept { return has_devices_->load(std::memory_order_relaxed); }

    /// Slot of `pe` for `bytes` at `symmetric`, or none if the transport must be used. Throws Error: pe,
    /// not_symmetric.
    Slot route(const void* symmetric, std::size_t bytes, int pe) const {
        if (!is_in_heap(symmetric, bytes, pe)) [[unlikely]]
            check_range(symmetric, bytes);
        return map_.slot(pe);
    }
    /// `route` of a move. It is also none while operations are counted.
    Slot route_counted(const void* symmetric, std::size_t bytes, int pe) const {
        return is_in_heap(symmetric, bytes, pe) ? map_.slot(pe) : route_checked(symmetric, bytes, pe);
    }
    /// The world's number of a PE of the team.
    int world_pe(int pe) const noexcept;
    /// True for a range of this PE's heap that needs no further check. All else takes the slow path: static
    /// data, memory of GPUs, errors. With ATOLL_CHECK=args every access takes it, since its block is looked
    /// up. Throws Error(pe).
    bool is_in_heap(const void* symmetric, std::size_t bytes, int pe) const {
        check_pe(pe);
        return window_.takes(symmetric, bytes);
    }
    void check_pe(int pe) const {
        if (static_cast<unsigned>(pe) >= map_.checked_pes) [[unlikely]]
            throw_pe(pe, map_.n_pes);
    }
    void check_aligned(const void* word, std::size_t bytes) const {
        if (!aligned_to(word, bytes) && window_.check) [[unlikely]]
            throw_misaligned(word, bytes);
    }
    /// Checks the local memory of an operation that moves bytes. Throws Error: invalid_argument for null.
    /// With ATOLL_CHECK=args it also throws use_after_free and not_symmetric for memory of the heap.
    void check_local_memory(const void* local, std::size_t bytes) const {
        if (local == nullptr || window_.check_args) [[unlikely]]
            check_local_block(local, bytes);
    }
    /// Like `route`, for operations that also reach memory of GPUs. Those use the routed forms (no
    /// slot). All operations use them while statistics are counted.
    Slot route_any(const void* symmetric, std::size_t bytes, int pe) const {
        return is_in_heap(symmetric, bytes, pe) ? map_.slot(pe) : route_elsewhere(symmetric, bytes, pe);
    }
    /// Address at which the host updates one element on `pe` by `op`, an AtomicOp or SignalOp; null if the
    /// routed forms must be used. The slow path notes the update for hang reports.
    template <class Op, class T> T* address_for(Op op, T* symmetric, T value, int pe) const {
        if (!is_in_heap(symmetric, sizeof(T), pe)) [[unlikely]] {
            const Slot elsewhere = route_elsewhere(symmetric, sizeof(T), pe);
            if (window_.fast_limit() == 0) [[unlikely]]
                note_update(op, symmetric, value, pe);
            return window_.near_at(symmetric, elsewhere);
        }
        const Slot slot = map_.slot(pe);
        return slot.is_near() ? window_.heap_at(symmetric, slot) : nullptr;
    }
    /// True for memory of GPUs, which the host cannot load. False for the host heap after one comparison.
    bool is_on_device(const void* address) const noexcept {
        return !window_.heap_has(address) && in_device_heap(*job_, address);
    }
    /// Bytes of `count` elements; saturates, so that a wrapped product cannot pass the range check.
    template <class T> static std::size_t bytes_of(std::size_t count) noexcept {
        std::size_t bytes = 0;
        return __builtin_mul_overflow(count, sizeof(T), &bytes) ? SIZE_MAX : bytes;
    }

  protected:
    ContextBase() = default;
    Slot route_elsewhere(const void* symmetric, std::size_t bytes, int pe) const;
    Slot route_checked(const void* symmetric, std::size_t bytes, int pe) const;
    void count_first_move() const noexcept;
    /// Notes an atomic operation or a signal for hang reports, if it is one of the first.
    void note_atomic(AtomicOp op, DType type, const void* symmetric, std::uint64_t value, int pe) const;
    /// Notes that a compare_swap has stored `value`.
    void note_stored(DType type, const void* symmetric, std::uint64_t value, int pe) const;
    void note_update(SignalOp op, const std::uint64_t* signal, std::uint64_t value, int pe) const;
    template <class T> void note_update(AtomicOp op, const T* symmetric, T value, int pe) const {
        note_atomic(op, dtype<T>, symmetric, to_word(value), pe);
    }
    /// Checks that the host can load and store this memory of this PE, as far as checks are on. Throws Error:
    /// not_symmetric, use_after_free.
    void check_range(const void* symmetric, std::size_t bytes) const;
    void check_local_block(const void* local, std::size_t bytes) const;
    static bool in_device_heap(const core::JobState& job, const void* address) noexcept;

    // The members that fast paths read are adjacent: 64 bytes up to window_.my_slot.
    const std::atomic<bool>* has_devices_ = nullptr;
    TeamMap map_;
    mutable Window window_;  ///< cache of the job's; see count_first_move
    std::shared_ptr<core::ContextState> state_;
    core::JobState* job_ = nullptr;
    int spins_ = 0;
};

// The routed forms: for PEs outside the window, or when ATOLL_TRANSPORT forces a transport.
/// `count` blocks of `block` elements; strides in elements.
struct StridedBlocks {
    void* dst;
    const void* src;
    std::ptrdiff_t dst_stride, src_stride;
    std::size_t block, count, element_bytes;
};
ATOLL_API void put_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes, int pe,
                          bool blocking);
ATOLL_API void get_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes, int pe,
                          bool blocking);
/// Moves blocks to `pe` (is_put) or from it; complete at this PE on return.
ATOLL_API void blocks_routed(core::ContextState& ctx, const StridedBlocks& blocks, int pe, bool is_put);
ATOLL_API std::uint64_t atomic_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst,
                                      std::uint64_t value, std::uint64_t compare, int pe);
/// Puts 0 or more bytes through the transport, then updates the signal on the same PE.
ATOLL_API void put_signal_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes,
                                 std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe,
                                 bool blocking);
/// The signal of a put_signal without data.
ATOLL_API void signal_routed(core::ContextState& ctx, std::uint64_t* signal, std::uint64_t value, SignalOp op,
                             int pe);
/// `*result`, of the type's size, is valid after quiet.
ATOLL_API void fetch_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst, std::uint64_t value,
                            std::uint64_t compare, int pe, void* result);
/// Loads this PE's own word of 1 to 8 bytes from the device heap, by a copy. Throws Error: not_symmetric,
/// use_after_free.
ATOLL_API std::uint64_t load_device_word(core::ContextState& ctx, const void* word, std::size_t bytes);
/// Loads many words by one copy. Throws the errors of `load_device_word`; `check_device_words` throws them
/// beforehand.
ATOLL_API void load_device_words(core::ContextState& ctx, void* dst, const void* words, std::size_t bytes);
ATOLL_API void check_device_words(core::ContextState& ctx, const void* words, std::size_t bytes);
/// fence (`quiet` false) or quiet towards one team PE, or all (-1).
ATOLL_API void order_routed(core::ContextState& ctx, int pe, bool quiet);
/// Makes progress on this PE's pending work for others.
ATOLL_API void progress_routed(core::JobState& job);
/// Copies data that another PE reads next. From `nontemporal_bytes` on it bypasses the cache, and fences
/// afterwards.
ATOLL_API void copy_for_reader(void* dst, const void* src, std::size_t bytes,
                               std::size_t nontemporal_bytes) noexcept;
/// Throws for a null `local` of a call that moves `bytes` bytes.
[[noreturn]] ATOLL_API void throw_null(std::size_t bytes);
[[noreturn]] ATOLL_API void throw_compare(int compare);
[[noreturn]] ATOLL_API void throw_stride(std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride);

}  // namespace atl::detail
