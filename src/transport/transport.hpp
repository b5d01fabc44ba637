// Access to PEs outside the window: bytes, offsets and (operation, type). About twenty virtual functions
// serve all operations of the API. A context's operations to one PE may be delivered in any order until
// `fence` or `quiet`.
#pragma once

#include "atoll/anywhere.hpp"
#include "atoll/types.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace atl::transport {

using ContextId = std::uint32_t;  ///< 0 is the default context

enum class Completion : std::uint8_t {
    local,     ///< put: the source may be reused on return; get: the data are there on return
    at_quiet,  ///< source and destination belong to the transport until quiet of this context
    unheard,   ///< put: as local, but quiet need not wait for it. For flags whose arrival this PE learns by
               ///< other means; saves the acknowledgement. It is ordered after the fences before it. Large
               ///< puts behind a later fence may overtake it. It is complete once a later empty put with
               ///< acknowledgement is
};

/// The signal of a put: a word of uint64 in the same PE's memory, which is set or added to.
struct Signal {
    std::uint64_t offset = 0;
    std::uint64_t value = 0;
    SignalOp op = SignalOp::set;
};

/// A strided range: `n_blocks` blocks of `block_bytes`, each begins a stride after the one before.
struct Blocks {
    std::size_t block_bytes = 0;
    std::size_t n_blocks = 0;
    std::size_t remote_stride = 0;
    std::size_t local_stride = 0;
};

/// A flag in an offset: the offset counts from the start of the PE's device heap.
inline constexpr std::uint64_t in_device_heap = std::uint64_t{1} << 63;

/// A PE's own device heap, on which a transport carries out operations of other PEs. Operations begin in
/// order. Their effects are visible to every PE after `settle`, or after a later call that returns a value.
/// Called by one thread at a time. Throws Error: system, kernel.
class DeviceOwner {
  public:
    /// The largest get.
    static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    /// The largest put.
    static constexpr std::size_t put_bytes = std::size_t{64} << 10;

    virtual ~DeviceOwner() = default;
    /// `src` may be reused on return.
    virtual void put(std::uint64_t offset, const void* src, std::size_t bytes) = 0;
    virtual void get(void* dst, std::uint64_t offset, std::size_t bytes) = 0;
    /// `src` and `dst` hold the blocks contiguously, at most put_bytes in all.
    virtual void put_blocks(std::uint64_t offset, const void* src, const Blocks& blocks) = 0;
    virtual void get_blocks(void* dst, std::uint64_t offset, const Blocks& blocks) = 0;
    /// Takes and returns the same as Transport::atomic.
    virtual std::uint64_t atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                                 std::uint64_t compare) = 0;
    virtual void settle() = 0;
    /// Returns pinned host memory of piece_bytes, valid as long as this object.
    virtual char* pin_piece() = 0;

    // ---- for networks that read and write this memory themselves

    /// True if their writes can be made visible to every PE, by `show_network_puts`.
    virtual bool admits_networks() const { return false; }
    virtual void show_network_puts() {}
    /// True if the host cannot load and store the memory.
    virtual bool is_gpu_memory() const { return true; }
    /// Makes the GPU current for the calling thread, for libraries that use the current GPU.
    virtual void make_current() const {}
};

/// Thread-safe. A permanent failure throws Error(pe_died) that names the PE.
class Transport {
  public:
    virtual ~Transport() = default;
    virtual std::string_view name() const = 0;
    virtual bool reaches(int pe) const = 0;
    /// A description for people; may be empty.
    virtual std::string note() const { return {}; }

    virtual ContextId create_context() = 0;
    /// Destroys a context; implies its quiet.
    virtual void destroy_context(ContextId context) = 0;

    /// `offset` counts from the start of `pe`'s heap; the caller has checked the range. `bytes` > 0, except
    /// for a put of no data that only completes earlier ones (Completion::unheard).
    virtual void put(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
                     Completion) = 0;
    virtual void get(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
                     Completion) = 0;
    /// The low bytes of `value` and `compare` are the operands; those of the result are the previous value.
    /// Fetching operations return it at once. The others (set, add, bit_and, bit_or, bit_xor) may complete at
    /// quiet and return 0.
    virtual std::uint64_t atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                                 std::uint64_t value, std::uint64_t compare) = 0;
    /// A fetching atomic that stores its result in `result` (of the type's size). The result is there after
    /// quiet.
    virtual void fetch_atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                              std::uint64_t value, std::uint64_t compare, void* result);
    /// A put (0 bytes are allowed), then the signal. A PE that sees the signal sees the data.
    virtual void put_signal(ContextId context, int pe, std::uint64_t offset, const void* src,
                            std::size_t bytes, const Signal& signal, Completion);
    /// Strided puts and gets, which complete like Completion::local.
    virtual void put_blocks(ContextId context, int pe, std::uint64_t offset, const void* src, const Blocks&);
    virtual void get_blocks(ContextId context, int pe, std::uint64_t offset, void* dst, const Blocks&);
    /// Orders this context's puts and atomics to `pe` (-1: to each PE): those before the fence are delivered
    /// before those after it.
    virtual void fence(ContextId context, int pe) = 0;
    /// Completes all operations of this context to `pe` (-1: all) and makes them visible to every PE.
    virtual void quiet(ContextId context, int pe) = 0;
    /// Gives pages of this PE's own slot back to the system. Calls `give_back(begin, end)` for ranges that no
    /// device accesses without the page tables, and prevents such access during the call. Other ranges keep
    /// their pages.
    virtual void release(std::uint64_t begin, std::uint64_t end,
                         const std::function<void(std::uint64_t, std::uint64_t)>& give_back) {
        give_back(begin, end);
    }
    /// True if offsets may be in_device_heap. Gets are then at most DeviceOwner::piece_bytes. Blocks longer
    /// than a message are moved one by one.
    virtual bool carries_device_heaps() const { return false; }
    /// Sets the owner of this PE's device heap, which from now on carries out operations of other PEs. Null
    /// removes it.
    virtual void serve_device_heap(DeviceOwner* owner) { static_cast<void>(owner); }
    /// Adds memory at `offset` to the served device heap of this PE. It is one allocation, valid until the
    /// owner is removed.
    virtual void add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes) {
        static_cast<void>(offset), static_cast<void>(memory), static_cast<void>(bytes);
    }
    /// Moves operations on; called by threads in a wait. Must be cheap when there is nothing to do. True if
    /// something moved.
    virtual bool progress() = 0;
    /// The same for a thread that mainly waits for something else. It does not keep the transport's own
    /// thread from making progress.
    virtual bool progress_in_passing() { return progress(); }
    /// Sleeps until a message may have arrived, at most `ns`. False if this transport cannot sleep; then the
    /// caller sleeps.
    virtual bool sleep(std::uint64_t ns) {
        static_cast<void>(ns);
        return false;
    }
    /// True if messages arrive only in progress(). Then a wait calls it from the start.
    virtual bool polls() const { return false; }
    /// Connects to all PEs now rather than at first use. Throws Error(bootstrap, pe_died).
    virtual void connect_all() {}
    /// Call before the last collective: from now on the end of a PE's connection is not its death.
    virtual void expect_end() {}
    /// Call after the last collective, or instead of it. Sends pending messages within bounded time and stops
    /// serving other PEs. Later operations throw Error(not_initialized).
    virtual void close() noexcept {}
};

}  // namespace atl::transport
