// Operations on streams for PEs that only a transport reaches: a kernel writes a request into pinned memory
// and waits; a thread of the host carries it out as the host's own calls would. CUDA calls no function of the
// host.
#pragma once

#include "common/quiet_thread.hpp"
#include "core/device_memory.hpp"

#include <atomic>
#include <functional>

namespace atl::core {

class StreamServer {
  public:
    /// What carries requests out in its thread, one after another, in place of the calls for single PEs.
    using Carry = std::function<void(const heap::FarRequest&, const DeviceMemory::Lane&)>;
    StreamServer(JobState& job, const DeviceMemory& device, heap::FarRing* ring, std::uint64_t* tickets,
                 Carry carry = {});
    ~StreamServer();
    StreamServer(const StreamServer&) = delete;
    StreamServer& operator=(const StreamServer&) = delete;

    /// Begins it on the stream.
    void start(const device::Team& team, const heap::FarRequest& request, heap::StreamHandle stream);

    /// No graph with requests of this ring will be replayed any more.
    void forget_graphs() { in_graphs_.store(false); }

  private:
    void run();
    /// Until something may have come; false when it is to stop.
    bool rest(std::uint64_t ticket, unsigned idle) const;
    void serve(const heap::FarRequest& request) const;
    void carry_out(const heap::FarRequest& request) const;

    JobState& job_;
    const DeviceMemory& device_;
    heap::FarRing* const ring_;
    std::uint64_t* const tickets_;  ///< in this GPU's memory
    const Carry carry_;
    std::shared_ptr<transport::Transport> transport_;
    const transport::ContextId context_;
    DeviceMemory::Lane lane_;  ///< pinned now: later it might wait for a kernel that waits for this thread
    std::atomic<std::uint64_t> begun_{0};  ///< on streams, not in graphs
    std::atomic<bool> in_graphs_{false};   ///< whose replays nobody announces
    std::atomic<bool> stops_{false};
    common::Wake wake_;
    common::QuietThread thread_;  // last: it uses the others
};

}  // namespace atl::core
