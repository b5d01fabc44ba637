// Topology: the hosts of a job's PEs, and the route by which this PE reaches each of them.
#pragma once

#include "atoll/detail/slot.hpp"

#include "bootstrap/host/host_segment.hpp"
#include "bootstrap/host/hosts.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atl::transport {
class Transport;
}

namespace atl::core {

/// Hosts, domains and slots of all PEs. Fixed when the job has started.
class Topology {
  public:
    Topology(int pe, int n_pes) : pe_(pe), n_pes_(n_pes) {}
    void set_hosts(bootstrap::Hosts hosts) { hosts_ = std::move(hosts); }
    /// Assigns slots of the window to the PEs of this PE's domain, in PE order. If PEs are threads, to all.
    void assign_slots(const bootstrap::HostSegment& segment);
    /// Null: the window reaches every PE. With `for_all` operations to all other PEs use the transport.
    void set_transport(transport::Transport* transport, bool for_all) {
        transport_ = transport;
        everything_routed_ = for_all;
    }

    const bootstrap::Hosts& hosts() const { return hosts_; }
    /// Domain of a PE. PEs of one domain load and store each other's memory.
    int domain_of(int pe) const { return hosts_.domain_of[static_cast<std::size_t>(pe)]; }
    /// Slot of a world PE's memory in the window; none for PEs of other domains.
    detail::Slot host_slot(int pe) const { return slots_[static_cast<std::size_t>(pe)]; }
    const std::vector<detail::Slot>& slots() const { return slots_; }
    /// Slot of a world PE for operations; none if the transport carries them.
    detail::Slot slot(int pe) const {
        return everything_routed_ && pe != pe_ ? detail::Slot() : host_slot(pe);
    }
    /// By slot of the window: the slot number in the memory of the host.
    const std::vector<int>& file_slots() const { return file_slots_; }
    /// True if a transport carries all operations: it is forced although the window reaches every PE.
    bool everything_routed() const { return everything_routed_; }
    /// True if this PE's loads and stores carry operations on a PE's host heap.
    bool has_window_to(int pe) const;
    /// True if this PE maps a PE's host memory, also while a transport is forced for operations.
    bool maps(int pe) const;
    /// The first of these PEs whose host heap only a transport reaches; -1: none.
    int first_far(const std::vector<int>& pes) const;
    /// The PE that owns a slot.
    int pe_of_slot(int slot) const {
        return all_in_window_ ? slot : hosts_.members[static_cast<std::size_t>(slot)];
    }
    /// Number of PEs on this machine.
    int machine_pes() const { return hosts_.machine_pes; }
    /// Returns a text such as "PE 1 (host n0)".
    std::string location_text(int pe) const;
    /// Returns a text such as "window", or the transport's name.
    std::string_view route_to(int pe) const;
    /// Returns a text such as "PE 0 (host a): window to PE 1, ucx to PE 2,3".
    std::string reaches_text() const;
    /// One line a host: its PEs, and how they are reached from here.
    std::string routes_text() const;
    /// The transport's own note, in parentheses.
    std::string note_text() const;

  private:
    int pe_;
    int n_pes_;
    bool all_in_window_ = false;      ///< PEs are threads of one process
    bool everything_routed_ = false;  ///< a transport was forced although the window reaches every PE
    transport::Transport* transport_ = nullptr;
    bootstrap::Hosts hosts_;
    std::vector<detail::Slot> slots_;  ///< by PE, see host_slot
    std::vector<int> file_slots_;
};

/// Index of a PE's slot in the memory of the host; -1 if it is not there.
int file_slot_of(const bootstrap::HostSegment& segment, int pe);

}  // namespace atl::core
