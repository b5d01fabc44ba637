// StreamServer: operations of streams and kernels for PEs that only a transport reaches. A GPU writes
// requests into pinned memory (atoll/device/detail/far_ring.hpp). A thread of the host carries them out like
// the host's own calls, in the order of their tickets. CUDA cannot call host functions.
#pragma once

#include "common/quiet_thread.hpp"
#include "gpu/heap/device_memory.hpp"

#include <atomic>
#include <functional>
#include <vector>

namespace atl::stream {

class StreamServer {
  public:
    /// Carries out a request in the server's thread, one after another. Replaces the calls for single PEs.
    using Carry = std::function<void(const gpu::FarRequest&, const gpu::Lane&)>;
    StreamServer(core::JobState& job, const gpu::DeviceMemory& device, gpu::FarRing* ring,
                 unsigned long long* tickets, Carry carry = {});
    ~StreamServer();
    StreamServer(const StreamServer&) = delete;
    StreamServer& operator=(const StreamServer&) = delete;

    /// Enqueues the request on the stream.
    void start(const device::Team& team, const gpu::FarRequest& request, gpu::StreamHandle stream);
    /// Announces that kernels may make requests at any time from now on.
    void serve_kernels();
    /// Completes the requests of kernels that have ended.
    void drain();
    gpu::FarRing& ring() const noexcept { return *ring_; }
    unsigned long long* tickets() const noexcept { return tickets_; }

    /// Called when no graph with requests of this ring will be replayed any more.
    void forget_graphs() { unannounced_.store(false); }

  private:
    using Slot = gpu::FarRing::Slot;

    void run();
    /// Pauses until a request may have arrived; false if the thread is to stop.
    bool rest(std::uint64_t ticket, unsigned idle) const;
    void nap() const;
    void serve(Slot& slot);
    void carry_out(Slot& slot);
    void put(const Slot& slot) const;
    void get(Slot& slot) const;
    void atomic(Slot& slot) const;
    /// Completes operations in progress, for requesters that wait for that. False if nothing was in progress.
    bool settle();
    template <class Call> void guarded(const gpu::FarRequest* request, Call&& call) const;

    core::JobState& job_;
    const gpu::DeviceMemory& device_;
    gpu::FarRing* const ring_;
    unsigned long long* const tickets_;  ///< in this GPU's memory
    const Carry carry_;
    std::shared_ptr<transport::Transport> transport_;
    const transport::ContextId context_;
    gpu::Lane lane_;  ///< pinned now: later, pinning might wait for a kernel that waits for
                      ///< this thread
    std::atomic<std::uint64_t> begun_{0};   ///< number of requests on streams, outside graphs
    std::atomic<bool> unannounced_{false};  ///< replays of graphs, and kernels, may make requests
    std::atomic<bool> stops_{false};
    std::atomic<std::uint64_t> drains_{0}, drained_{0};
    // ---- used by the thread
    bool is_unfinished_ = false;  ///< an operation was begun that no quiet has completed yet
    std::vector<Slot*> held_;     ///< slots whose requesters wait for completion
    common::Wake wake_;
    common::QuietThread thread_;  // last: it uses the other members
};

}  // namespace atl::stream
