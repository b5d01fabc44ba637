// Large puts and gets by UCX's own remote memory access. On networks with hardware support this needs nothing
// of the target's CPU. All other operations are messages. docs/decisions/0043-order-of-ucx-own-puts.md
// describes the order between the two. Unless documented otherwise, members are called with the engine's
// mutex held.
#pragma once

#include "transport/ucx/keys.hpp"
#include "transport/ucx/ucx.hpp"
#include "transport/ucx/wire.hpp"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace atl::transport::ucx {

class Engine;
class Rma;
class Waiting;
class Worker;
enum class OwnAccess : std::uint8_t;
struct Peer;

/// Requests in flight.
struct Operations {
    Rma* rma = nullptr;
    Peer* peer = nullptr;
    std::size_t left = 0;
    bool failed = false;
    bool abandoned = false;  ///< its owner no longer waits: the last request deletes it
};

/// The state of this PE's operations on one other PE.
struct RmaPeer {
    enum class Path { unknown, messages, rma };
    struct Context {
        std::uint64_t last = 0;      ///< number of its last operation that quiet completes
        std::uint64_t last_put = 0;  ///< last put among these
    };

    Path path = Path::unknown;
    bool refuses_device = false;  ///< its device heap is reached by messages
    KnownKeys keys;
    std::uint64_t begun = 0;      ///< number of the last operation
    std::uint64_t flushed = 0;    ///< operations up to this number are complete at the PE
    std::uint64_t flushing = 0;   ///< the flush in flight completes those up to this number; 0: none
    std::uint64_t on_device = 0;  ///< number of the last put into its device heap
    std::uint64_t shown = 0;      ///< puts into its device heap up to this number are visible to every PE
    /// True if an operation has begun that is not complete, or not visible, at the PE.
    bool is_open() const { return begun != flushed || shown < on_device; }
    Operations at_quiet;      ///< operations that quiet completes: their callers do not wait
    std::vector<Context> of;  ///< by context
};

class Rma {
  public:
    using Lock = std::unique_lock<std::mutex>;

    Rma(Engine& engine, const UcxOptions& options);
    Rma(const Rma&) = delete;
    Rma& operator=(const Rma&) = delete;

    /// The access that a PE with these options requests of UCX, and a human-readable reason.
    static OwnAccess wanted(UcxRma option, const Library& ucp);
    static std::string describe(UcxRma option, const Library& ucp);

    /// True if an operation on `bytes` at `offset` can use UCX's own access. Obtains the keys, for which it
    /// may wait. Throws Error(pe_died, not_initialized).
    bool reaches(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint64_t offset,
                 std::size_t bytes);
    /// Call these after `reaches` was true. They return when the caller's memory may be reused, or at once if
    /// `at_quiet`. Puts are ordered after the context's messages before its last fence. Gets are ordered
    /// after all of its messages and puts.
    void put(Lock& lock, Waiting& waiting, Peer& peer, std::uint32_t context, std::uint64_t offset,
             const void* src, std::size_t bytes, bool at_quiet);
    void get(Lock& lock, Waiting& waiting, Peer& peer, std::uint32_t context, std::uint64_t offset, void* dst,
             std::size_t bytes, bool at_quiet);
    /// Waits until all of the context's operations are complete at the peer, or only its puts.
    void complete(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint32_t context);
    void complete_puts(Lock& lock, Waiting& waiting, const char* operation, Peer& peer,
                       std::uint32_t context);
    /// True if `complete` would not wait.
    bool is_complete(Peer& peer, std::uint32_t context);
    /// Begins the flush for which `complete` waits.
    void begin_completing(Peer& peer, std::uint32_t context);
    /// True if operations on any PE are to be completed or made visible. May be called without the mutex.
    bool is_open() const { return n_open_.load(std::memory_order_relaxed) != 0; }

    /// The key to the range [begin, end) of this PE's slot around `offset`; `end` is 0 without a key.
    struct Key {
        std::uint64_t begin = 0, end = 0;
        std::uint64_t address = 0;
        std::string_view packed;
    };
    Key key_to(const Peer& peer, std::uint64_t offset, std::uint64_t bytes);
    void take_key(Peer& peer, const Header& header, const char* data, std::size_t bytes);
    const OwnKeys& slot_keys() const { return own_; }
    /// Adds memory at `offset` of this PE's device heap.
    void add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes, bool is_gpu_memory);
    /// Call once no PE accesses the memory any more.
    void drop_device_chunks() noexcept;
    void unregister_all() noexcept;

    // ---- the end
    std::size_t in_flight() const { return in_flight_; }
    /// True if no request is in flight; begins to complete those that are.
    bool settle(const std::vector<Peer*>& met);
    /// Destroys the keys of other PEs; call before the connections end.
    void drop_keys(const std::vector<Peer*>& met) noexcept;

  private:
    template <class Begin>
    void for_each_part(Peer& peer, std::uint64_t offset, std::size_t bytes, Begin&& begin);
    /// Runs `issue(operations)` and waits for its requests.
    template <class Issue>
    void run(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, Issue&& issue);
    bool connects(Lock& lock, Waiting& waiting, const char* operation, Peer& peer);
    bool does_it_itself(const Peer& peer) const;
    bool admits(const Peer& peer, const OwnKeys& own) const;
    static bool is_refused(Peer& peer, std::uint64_t offset);
    /// The registered memory of this PE that contains `offset`, and the offset of its beginning. Null if no
    /// region contains it.
    std::pair<OwnKeys*, std::uint64_t> own_keys(std::uint64_t offset);
    void issue_put(Peer& peer, std::uint64_t offset, const void* src, std::size_t bytes, Operations& of);
    void issue_get(Peer& peer, std::uint64_t offset, void* dst, std::size_t bytes, Operations& of);
    void take_request(void* request, Operations& of);
    void note(Peer& peer, std::uint32_t context, bool is_put, std::uint64_t offset);
    template <class Change> void change(RmaPeer& rma, Change&& what);
    void await_flush(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint64_t number);
    void show(Lock& lock, Waiting& waiting, const char* operation, Peer& peer, std::uint64_t number);
    void throttle(Lock& lock, Waiting& waiting, Peer& peer);
    void begin_flush(Peer& peer);
    void end_flush(Peer& peer, ucs_status_t status);
    static void done(void* request, ucs_status_t status, void* operations);
    static void flush_done(void* request, ucs_status_t status, void* peer);

    Engine& engine_;
    const Library& ucp_;
    const UcxRma option_;
    const std::size_t least_bytes_;
    OwnKeys own_;                              ///< keys of the slot
    std::map<std::uint64_t, OwnKeys> device_;  ///< keys of the device heap's chunks, by their begin
    std::size_t in_flight_ = 0;
    std::atomic<int> n_open_{0};  ///< PEs whose RmaPeer::is_open
};

}  // namespace atl::transport::ucx
