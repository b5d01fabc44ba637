// One UCX context with one worker: the part of the transport that is specific to UCX. Not thread-safe.
#pragma once

#include "transport/ucx/library.hpp"
#include "transport/ucx/packets.hpp"

#include <string>

namespace atl::transport::ucx {

/// The memory that UCX's own puts and gets access.
enum class OwnAccess : std::uint8_t { none, host_memory, device_memory };

class Worker {
  public:
    /// Called in progress() for each message; must not throw.
    using Deliver = void (*)(void* argument, const Header& header, const char* data, std::size_t bytes);
    /// Called in UCX when a connection is lost.
    using Lose = ucp_err_handler_cb_t;

    /// Throws Error(system) that lists the available networks if UCX can use none.
    Worker(const Library& ucp, OwnAccess access, Deliver deliver, void* argument);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    const Library& ucp() const { return ucp_; }
    const std::string& address() const { return address_; }
    ucp_context_h context() const { return context_; }
    OwnAccess access() const { return access_; }
    /// True if this UCX can access GPUs' memory, as far as UCX reports.
    bool knows_cuda() const;
    /// Connects to a published address. Throws Error(bootstrap).
    ucp_ep_h connect(const std::string& address, Lose lose, void* argument);
    /// Closes the connection without waiting; progress() continues it.
    void disconnect(ucp_ep_h endpoint);
    bool has_disconnected();
    /// Leaves everything to the end of the process instead of destroying it.
    void abandon() noexcept { abandoned_ = true; }

    Packet& packet() {
        Packet& packet = packets_.take();
        packet.home = this;
        return packet;
    }
    /// Sends `bytes` of the packet's data with its header. Null, or the text of the failure.
    const char* send(ucp_ep_h endpoint, Packet& packet, std::size_t bytes);
    /// Sends the packet's header and `bytes` at `data`. Both must stay unchanged until `flight` (may be null)
    /// counts down.
    const char* send_from(ucp_ep_h endpoint, Packet& packet, const void* data, std::size_t bytes,
                          Flight* flight);
    /// Messages in flight.
    std::size_t in_flight() const { return packets_.taken(); }

    bool progress() { return ucp_.worker_progress(worker_) != 0; }
    /// A descriptor that becomes readable when an event happens after `arm` returned true. If `arm` returns
    /// false, an event is already there.
    int event_fd() const { return event_fd_; }
    bool arm() { return ucp_.worker_arm(worker_) == UCS_OK; }

  private:
    static ucs_status_t receive(void* self, const void* header, std::size_t header_bytes, void* data,
                                std::size_t bytes, const ucp_am_recv_param_t* param);
    static void sent(void* request, ucs_status_t status, void* packet);
    void open_context();
    void open_context(const char* networks);
    void open_worker();
    const char* post(ucp_ep_h endpoint, unsigned id, Packet& packet, std::size_t header_bytes,
                     const void* data, std::size_t bytes);

    const Library& ucp_;
    const OwnAccess access_;
    const bool watches_peers_;
    const Deliver deliver_;
    void* const argument_;
    ucp_context_h context_ = nullptr;
    ucp_worker_h worker_ = nullptr;
    int event_fd_ = -1;
    std::string address_;
    Packets packets_;
    std::vector<void*> closing_;
    bool abandoned_ = false;
};

}  // namespace atl::transport::ucx
