// Operations of streams and kernels for PEs that only a transport reaches: a GPU writes requests into pinned
// memory (atoll/device/far_ring.hpp); a thread of the host carries them out as the host's own calls would, in
// the order of their tickets. CUDA calls no function of the host.
#pragma once

#include "common/quiet_thread.hpp"
#include "core/device_memory.hpp"

#include <atomic>
#include <functional>
#include <vector>

namespace atl::core {

class StreamServer {
  public:
    /// What carries requests out in its thread, one after another, in place of the calls for single PEs.
    using Carry = std::function<void(const heap::FarRequest&, const DeviceMemory::Lane&)>;
    StreamServer(JobState& job, const DeviceMemory& device, heap::FarRing* ring, unsigned long long* tickets,
                 Carry carry = {});
    ~StreamServer();
    StreamServer(const StreamServer&) = delete;
    StreamServer& operator=(const StreamServer&) = delete;

    /// Begins it on the stream.
    void start(const device::Team& team, const heap::FarRequest& request, heap::StreamHandle stream);
    /// From now on kernels may ask, which nobody announces.
    void serve_kernels();
    /// What kernels that have ended asked for is complete.
    void drain();
    heap::FarRing& ring() const noexcept { return *ring_; }
    unsigned long long* tickets() const noexcept { return tickets_; }

    /// No graph with requests of this ring will be replayed any more.
    void forget_graphs() { unannounced_.store(false); }

  private:
    using Slot = heap::FarRing::Slot;

    void run();
    /// Until something may have come; false when it is to stop.
    bool rest(std::uint64_t ticket, unsigned idle) const;
    void nap() const;
    void serve(Slot& slot);
    void carry_out(Slot& slot);
    void put(const Slot& slot) const;
    void get(Slot& slot) const;
    void atomic(Slot& slot) const;
    /// Completes what was begun, for those who wait for that. False: there was nothing.
    bool settle();
    template <class Call> void guarded(const heap::FarRequest* request, Call&& call) const;

    JobState& job_;
    const DeviceMemory& device_;
    heap::FarRing* const ring_;
    unsigned long long* const tickets_;  ///< in this GPU's memory
    const Carry carry_;
    std::shared_ptr<transport::Transport> transport_;
    const transport::ContextId context_;
    DeviceMemory::Lane lane_;  ///< pinned now: later it might wait for a kernel that waits for this thread
    std::atomic<std::uint64_t> begun_{0};   ///< on streams, not in graphs
    std::atomic<bool> unannounced_{false};  ///< replays of graphs, and kernels, may ask
    std::atomic<bool> stops_{false};
    std::atomic<std::uint64_t> drains_{0}, drained_{0};
    // ---- of the thread
    bool is_unfinished_ = false;  ///< something was begun that no quiet has completed yet
    std::vector<Slot*> held_;     ///< whose requesters wait until it is
    common::Wake wake_;
    common::QuietThread thread_;  // last: it uses the others
};

}  // namespace atl::core
