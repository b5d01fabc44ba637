// Messages with each PE: connections, sequence numbers, acknowledgements owed. Unless documented otherwise,
// members are called with `mutex()` held.
#pragma once

#include "transport/ucx/inbox.hpp"
#include "transport/ucx/rma.hpp"
#include "transport/ucx/ucx.hpp"
#include "transport/ucx/worker.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace atl::transport::ucx {

class Engine;

/// The sequence numbers of a context's messages to one PE.
struct Sequence {
    std::uint64_t last = 0;    ///< number of its last message
    std::uint64_t fenced = 0;  ///< number of the last message before the latest fence
    std::uint64_t fences = 0;
};

struct Peer {
    /// Sequence number of the PE's last message that was carried out here.
    std::uint64_t received() const { return inbox.delivered(); }

    Engine* engine = nullptr;
    int pe = -1;
    ucp_ep_h endpoint = nullptr;
    std::uint64_t sent = 0;     ///< number of the last message to it
    std::uint64_t awaited = 0;  ///< number of the last message to it for which a caller may wait
    std::uint64_t done = 0;     ///< number of the last message to it that it has carried out
    Inbox inbox;
    std::uint64_t acknowledged = 0;  ///< number of its last message that this PE has acknowledged
    bool owed = false;               ///< it may wait for an acknowledgement
    bool over = false;               ///< it said goodbye
    bool failed = false;             ///< the connection is lost
    bool reported = false;           ///< its death has been reported
    std::uint64_t failed_ns = 0;
    std::string why;
    std::vector<Sequence> sequences;  ///< by context
    std::unique_ptr<RmaPeer> rma;     ///< created by the first large operation
};

/// The most data that one message carries.
inline constexpr std::size_t chunk_bytes = std::size_t{32} << 10;

/// The target of the answers to a get or a fetching atomic.
struct Pending {
    char* dst = nullptr;
    std::size_t left = 0;  ///< bytes that are missing
    Blocks blocks;         ///< blocks of dst, where block_bytes is not 0
    std::uint32_t context = 0;
};

inline bool is_on_device(std::uint64_t offset) { return (offset & in_device_heap) != 0; }
inline std::uint64_t offset_on_device(std::uint64_t offset) { return offset & ~in_device_heap; }

/// Copies data of a message, which may be unaligned. Aligned words are stored whole.
void store(char* dst, const char* data, std::size_t bytes);

/// Pinned memory from which messages are sent; free again once they are sent.
struct Piece {
    char* memory = nullptr;
    Flight flight;
};

class Engine {
  public:
    explicit Engine(UcxOptions options);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    std::mutex& mutex() { return mutex_; }                  // Called without the mutex.
    const UcxOptions& options() const { return options_; }  // Called without the mutex.
    Worker& worker() { return worker_; }

    /// Returns the record of a PE, created on first use: of many PEs, a PE communicates with few.
    Peer& peer(int pe) {
        const std::unique_ptr<Peer>& known = peers_[static_cast<std::size_t>(pe)];
        return known ? *known : make_peer(pe);
    }
    bool is_connected(int pe) { return peer(pe).endpoint != nullptr; }
    /// Sends a message whose answer shows that the connection is made.
    void greet(Peer& peer);
    /// Connects to a PE by the address that it published. Throws Error(bootstrap).
    void connect(int pe, const std::string& value);
    /// Throws Error: pe_died, not_initialized.
    void check(const Peer& peer) const;

    /// Sends a message and returns its number. Data up to packet_data_bytes are copied.
    std::uint64_t post(Peer& peer, const Header& header, const void* data, std::size_t bytes);
    std::uint64_t post_from(Peer& peer, const Header& header, const void* data, std::size_t bytes,
                            Flight* flight);
    std::uint64_t post_filled(Peer& peer, const Header& header, Packet& packet, std::size_t bytes);

    /// Sets the owner of the device heap; null removes it.
    void serve_device_heap(DeviceOwner* owner);
    void add_device_chunk(std::uint64_t offset, char* memory, std::size_t bytes) {
        if (rma_ && device_) rma_->add_device_chunk(offset, memory, bytes, device_->is_gpu_memory());
    }

    /// UCX's own puts and gets; null if they are off.
    Rma* rma() { return rma_.get(); }
    /// Counts a fence of any context. Called without the mutex.
    void note_fence() { fences_.fetch_add(1, std::memory_order_relaxed); }
    void note_sent(Peer& peer, std::uint32_t context, std::uint64_t sequence);
    /// Sequence number of the context's last message to `peer`, or of the last one before the last fence.
    static std::uint64_t last(const Peer& peer, std::uint32_t context) {
        return context < peer.sequences.size() ? peer.sequences[context].last : 0;
    }
    std::uint64_t fenced(const Peer& peer, std::uint32_t context) const;
    /// Records that the connection is lost, and why.
    void complain(Peer& peer, const std::string& why);

    std::uint64_t expect(const Pending& pending);
    bool is_expected(std::uint64_t token) const { return pending_.contains(token); }
    void forget(std::uint64_t token) { pending_.erase(token); }
    /// Drops the context's outstanding requests: answers that come later have no target.
    void forget_all(std::uint32_t context) {
        std::erase_if(pending_, [&](const auto& each) { return each.second.context == context; });
    }

    /// True while lost connections wait for an explanation; call progress() again soon.
    bool has_lost() const { return !lost_.empty(); }
    /// Receives and answers messages, and acknowledges those of PEs that wait. False if there was nothing to
    /// do.
    bool progress();
    /// From now on a connection may end.
    void expect_end() { ending_ = true; }
    bool expects_end() const { return ending_; }
    bool is_closed() const { return closed_; }
    /// Ends all communication with other PEs.
    void close() noexcept;

  private:
    Peer& make_peer(int pe);
    static void deliver(void* self, const Header& header, const char* data, std::size_t bytes);
    static void lose(void* peer, ucp_ep_h endpoint, ucs_status_t status);
    void receive(const Header& header, const char* data, std::size_t bytes);
    void carry_out(Peer& peer, const Header& header, const char* data, std::size_t bytes);
    void act(Peer& peer, const Header& header, const char* data, std::size_t bytes);
    void put_to_parts(const Header& header, const char* data, std::size_t bytes);
    void put_blocks(const Header& header, const char* data, std::size_t bytes);
    void take_data(const Header& header, const char* data, std::size_t bytes);
    void take_value(const Header& header);
    char* address_at(std::uint64_t offset, std::uint64_t bytes);
    void answer_all();
    void answer_get(Peer& peer, const Header& request);
    void answer_key(Peer& peer, const Header& request);
    void answer_from(Peer& peer, const Header& request, const char* from, Flight* flight);
    void answer_blocks(Peer& peer, const Header& request);
    // device.cpp
    void check_own_access(const DeviceOwner& owner);
    DeviceOwner& device();
    void act_on_device(Peer& peer, const Header& header, const char* data, std::size_t bytes);
    void put_on_device(const Header& header, const char* data, std::size_t bytes);
    void put_and_signal(const Header& header, const char* data, std::size_t bytes);
    void answer_get_from_device(Peer& peer, const Header& request);
    void get_device_blocks(const Header& request, std::uint64_t first, char* dst, std::size_t bytes);
    Piece& free_piece();
    void settle_device();
    void lose_device(const std::string& why);
    void acknowledge_all(std::uint64_t least);
    void check_lost();
    void number(Peer& peer, Header& header, std::uint64_t done);
    std::uint64_t send_numbered(Peer& peer, Packet& packet, std::size_t bytes);
    void take_request(Peer& peer, const Header& request, std::uint64_t bytes);
    void answer(Peer& peer, const Header& request);
    bool is_settled() const;
    void end_connections() noexcept;
    template <class Done> void drain(std::uint64_t ns, Done&& done);

    std::mutex mutex_;
    UcxOptions options_;
    std::vector<std::unique_ptr<Peer>> peers_;  ///< by PE
    std::vector<Peer*> met_;                    ///< the records that exist
    Worker worker_;
    std::unique_ptr<Rma> rma_;
    std::atomic<std::uint64_t> fences_{0};
    std::unordered_map<std::uint64_t, Pending> pending_;
    std::uint64_t tokens_ = 0;
    DeviceOwner* device_ = nullptr;
    bool device_unsettled_ = false;  ///< an operation on the GPU may be incomplete
    std::deque<Piece> pieces_;
    std::vector<Header> requests_;  ///< answered once UCX has delivered all messages that have arrived
    std::vector<int> owed_;
    std::vector<std::pair<int, std::string>> greetings_;
    std::vector<Peer*> lost_;
    bool ending_ = false;
    bool closed_ = false;
};

}  // namespace atl::transport::ucx
