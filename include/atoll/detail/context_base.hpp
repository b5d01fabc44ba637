// What every operation of a context starts with: is the PE one of the team's, is the address symmetric, which
// slot.
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

class ATOLL_API ContextBase {
  public:
    /// Rank of this PE in the context's team.
    int my_pe() const noexcept { return map_.my_pe; }
    /// Number of PEs of the context's team; PE arguments count from 0 within it.
    int n_pes() const noexcept { return map_.n_pes; }

    core::ContextState& state() const noexcept { return *state_; }
    const Window& window() const noexcept { return window_; }
    const TeamMap& map() const noexcept { return map_; }
    core::JobState& job() const noexcept { return *job_; }
    int spins() const noexcept { return spins_; }
    /// The job has a device heap, so what is local may be memory of a GPU, which the host cannot load:
    /// whoever copies asks first.
    bool has_devices() const noexcept { return has_devices_->load(std::memory_order_relaxed); }

    /// Slot of `pe` for `bytes` at `symmetric`, or -1: by transport. Throws Error: pe, not_symmetric.
    int route(const void* symmetric, std::size_t bytes, int pe) const {
        if (window_.check) {
            if (static_cast<unsigned>(pe) >= static_cast<unsigned>(map_.n_pes)) [[unlikely]]
                throw_pe(pe, map_.n_pes);
            if (!window_.holds(symmetric, bytes)) [[unlikely]]
                throw_not_symmetric(*job_, symmetric, bytes);
        }
        return map_.slot(pe);
    }
    /// Whether the range is of this PE's heap, as far as checks are on, and the PE exists: all that a fast
    /// path asks. What is not goes elsewhere as a whole: static data, memory of GPUs, errors. Throws
    /// Error(pe).
    bool is_in_heap(const void* symmetric, std::size_t bytes, int pe) const {
        if (!window_.check) return window_.heap_has(symmetric);
        if (static_cast<unsigned>(pe) >= static_cast<unsigned>(map_.n_pes)) [[unlikely]]
            throw_pe(pe, map_.n_pes);
        return window_.heap_holds(symmetric, bytes);
    }
    /// As `route`, for operations that reach memory of GPUs too: by the routed forms (-1).
    int route_any(const void* symmetric, std::size_t bytes, int pe) const {
        return is_in_heap(symmetric, bytes, pe) ? map_.slot(pe) : route_elsewhere(symmetric, bytes, pe);
    }
    /// Memory of GPUs, which the host cannot load. False for the host heap after one comparison.
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
    int route_elsewhere(const void* symmetric, std::size_t bytes, int pe) const;
    static bool in_device_heap(const core::JobState& job, const void* address) noexcept;

    std::shared_ptr<core::ContextState> state_;
    core::JobState* job_ = nullptr;
    const std::atomic<bool>* has_devices_ = nullptr;
    Window window_;
    TeamMap map_;
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
/// To `pe` (is_put) or from it, complete at this PE on return.
ATOLL_API void blocks_routed(core::ContextState& ctx, const StridedBlocks& blocks, int pe, bool is_put);
ATOLL_API std::uint64_t atomic_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst,
                                      std::uint64_t value, std::uint64_t compare, int pe);
/// Data (of 0 bytes or more) by transport, then the signal on the same PE.
ATOLL_API void put_signal_routed(core::ContextState& ctx, void* dst, const void* src, std::size_t bytes,
                                 std::uint64_t* signal, std::uint64_t value, SignalOp op, int pe);
/// `*result`, of the type's size, is there after quiet.
ATOLL_API void fetch_routed(core::ContextState& ctx, AtomicOp op, DType type, void* dst, std::uint64_t value,
                            std::uint64_t compare, int pe, void* result);
/// This PE's own word in the device heap, of 1 to 8 bytes, by a copy. Throws Error: not_symmetric,
/// use_after_free.
ATOLL_API std::uint64_t load_device_word(core::ContextState& ctx, const void* word, std::size_t bytes);
/// Many of them by one copy. Throws as above, and as `check_device_words` does beforehand.
ATOLL_API void load_device_words(core::ContextState& ctx, void* dst, const void* words, std::size_t bytes);
ATOLL_API void check_device_words(core::ContextState& ctx, const void* words, std::size_t bytes);
/// fence (`quiet` false) or quiet towards one team PE, or all (-1).
ATOLL_API void order_routed(core::ContextState& ctx, int pe, bool quiet);
/// Moves on what this PE owes to others.
ATOLL_API void progress_routed(core::JobState& job);
/// A copy whose data another PE reads next: past the cache from `nontemporal_bytes` on, and fenced then.
ATOLL_API void copy_for_reader(void* dst, const void* src, std::size_t bytes,
                               std::size_t nontemporal_bytes) noexcept;
[[noreturn]] ATOLL_API void throw_misaligned(const void* address, std::size_t needed);
[[noreturn]] ATOLL_API void throw_stride(std::ptrdiff_t dst_stride, std::ptrdiff_t src_stride);

}  // namespace atl::detail
