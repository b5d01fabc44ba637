// Reaching PEs outside the window: bytes, offsets and (operation, type). About twenty virtual functions,
// whatever the number of names above. A context's operations to one PE may be delivered in any order until
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
    unheard,   ///< put: as local, but quiet need not wait for it: for flags of which this PE learns by other
               ///< means that they were read. Saves the message that would tell this PE. It stays behind the
               ///< fences before it; of later puts, behind a fence, large ones may overtake it. Once an empty
               ///< one that is heard of is complete, so is this
};

/// What a put announces itself by: a word of uint64 in the same PE's memory, which is set or added to.
struct Signal {
    std::uint64_t offset = 0;
    std::uint64_t value = 0;
    SignalOp op = SignalOp::set;
};

/// Blocks of `block_bytes`, `n_blocks` of them, the next one `stride` bytes further on.
struct Blocks {
    std::size_t block_bytes = 0;
    std::size_t n_blocks = 0;
    std::size_t remote_stride = 0;
    std::size_t local_stride = 0;
};

/// Added to an offset: it counts from the start of the PE's device heap.
inline constexpr std::uint64_t in_device_heap = std::uint64_t{1} << 63;

/// A PE's own device heap, as a transport that carries others' operations on it needs it. Each begins after
/// those before it, and what it changes is visible to everybody after `settle`, or after a later call that
/// returns something. Called by one thread at a time. Throws Error: system, kernel.
class DeviceOwner {
  public:
    /// What is asked for at once, at most.
    static constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    /// What is put at once, at most.
    static constexpr std::size_t put_bytes = std::size_t{64} << 10;

    virtual ~DeviceOwner() = default;
    /// `src` is free on return.
    virtual void put(std::uint64_t offset, const void* src, std::size_t bytes) = 0;
    virtual void get(void* dst, std::uint64_t offset, std::size_t bytes) = 0;
    /// `src` and `dst` have the blocks side by side, put_bytes in all at most.
    virtual void put_blocks(std::uint64_t offset, const void* src, const Blocks& blocks) = 0;
    virtual void get_blocks(void* dst, std::uint64_t offset, const Blocks& blocks) = 0;
    /// As Transport::atomic.
    virtual std::uint64_t atomic(std::uint64_t offset, AtomicOp op, DType type, std::uint64_t value,
                                 std::uint64_t compare) = 0;
    virtual void settle() = 0;
    /// Memory of piece_bytes that a GPU fills fast; it stays as long as this object.
    virtual char* pin_piece() = 0;

    // ---- for networks that read and write this memory themselves
    /// Whether they may: their writes can be made visible to everybody, by `show_network_puts`.
    virtual bool admits_networks() const { return false; }
    virtual void show_network_puts() {}
    /// Memory that the host cannot load and store.
    virtual bool is_gpu_memory() const { return true; }
    /// The GPU is the calling thread's from now on, for libraries that take it from there.
    virtual void make_current() const {}
};

/// Thread-safe. What fails for good throws Error(pe_died) that names the PE.
class Transport {
  public:
    virtual ~Transport() = default;
    virtual std::string_view name() const = 0;
    virtual bool reaches(int pe) const = 0;
    /// What else people may want to know; may be empty.
    virtual std::string note() const { return {}; }

    virtual ContextId create_context() = 0;
    /// Implies quiet of that context.
    virtual void destroy_context(ContextId context) = 0;

    /// `offset` is from the start of `pe`'s heap; ranges were checked above. `bytes` > 0, but for a put that
    /// only tells of others (Completion::unheard).
    virtual void put(ContextId context, int pe, std::uint64_t offset, const void* src, std::size_t bytes,
                     Completion) = 0;
    virtual void get(ContextId context, int pe, std::uint64_t offset, void* dst, std::size_t bytes,
                     Completion) = 0;
    /// The low bytes of `value` and `compare` are the operands, of the result the value before. Fetching ones
    /// return it at once; the others (set, add, bit_and, bit_or, bit_xor) may complete at quiet and return 0.
    virtual std::uint64_t atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                                 std::uint64_t value, std::uint64_t compare) = 0;
    /// A fetching atomic whose result stands in `result` (of the type's size) after quiet.
    virtual void fetch_atomic(ContextId context, int pe, std::uint64_t offset, AtomicOp op, DType type,
                              std::uint64_t value, std::uint64_t compare, void* result);
    /// put (which may be of 0 bytes), then the signal: whoever sees that sees the data.
    virtual void put_signal(ContextId context, int pe, std::uint64_t offset, const void* src,
                            std::size_t bytes, const Signal& signal, Completion);
    /// puts and gets of blocks, complete as Completion::local says.
    virtual void put_blocks(ContextId context, int pe, std::uint64_t offset, const void* src, const Blocks&);
    virtual void get_blocks(ContextId context, int pe, std::uint64_t offset, void* dst, const Blocks&);
    /// Puts and atomics of this context to `pe` (-1: each PE for itself) before it are delivered before those
    /// after it.
    virtual void fence(ContextId context, int pe) = 0;
    /// All operations of this context to `pe` (-1: all) are complete and visible to everybody.
    virtual void quiet(ContextId context, int pe) = 0;
    /// Memory of this PE's own slot is to go back to the system: calls `give_back(begin, end)` for what
    /// nobody reaches past its page tables, and lets nobody do so meanwhile. The rest keeps its pages.
    virtual void release(std::uint64_t begin, std::uint64_t end,
                         const std::function<void(std::uint64_t, std::uint64_t)>& give_back) {
        give_back(begin, end);
    }
    /// Whether offsets may be in_device_heap. Then gets are of DeviceOwner::piece_bytes at most, and blocks
    /// put or asked for one by one where they are longer than a message.
    virtual bool carries_device_heaps() const { return false; }
    /// What others ask of this PE's device heap from now on is done by `owner`; null: there is none any more.
    virtual void serve_device_heap(DeviceOwner* owner) { static_cast<void>(owner); }
    /// This PE's device heap, which is served, has memory at `offset`: one allocation, which stays until
    /// nothing is served any more.
    virtual void add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes) {
        static_cast<void>(offset), static_cast<void>(memory), static_cast<void>(bytes);
    }
    /// Called by whoever waits; must be cheap when there is nothing to do. True if something moved.
    virtual bool progress() = 0;
    /// The same for a thread that has something else to wait for, and so does not keep the transport's own
    /// thread away.
    virtual bool progress_in_passing() { return progress(); }
    /// For whoever waits for what others send: returns when something may have come, after `ns` at the
    /// latest. False: this transport cannot sleep, the caller does so as it likes.
    virtual bool sleep(std::uint64_t ns) {
        static_cast<void>(ns);
        return false;
    }
    /// True where what others send arrives only by progress(): then a wait looks there from the start.
    virtual bool polls() const { return false; }
    /// Makes the connections that would be made at first use. Throws Error(bootstrap, pe_died).
    virtual void connect_all() {}
    /// Before the last collective: from now on a PE may go without that being its death.
    virtual void expect_end() {}
    /// After it (or instead of it): sends what is still to be sent, within bounded time, and serves nobody
    /// any more. Later operations throw Error(not_initialized).
    virtual void close() noexcept {}
};

}  // namespace atl::transport
