// The host of each PE, and the domain of PEs that share memory with it. Computed once, when the job starts.
#pragma once

#include "bootstrap/bootstrap.hpp"

#include <string>
#include <vector>

namespace atl::bootstrap {

/// The same on all PEs, except `members`, which lists this PE's domain.
struct Hosts {
    std::vector<int> host_of;        ///< by PE; hosts count from 0 by their first PE
    std::vector<std::string> names;  ///< human-readable names of hosts
    /// Domain by PE: PEs of one domain load and store each other's memory. A domain lies on one host. A PE
    /// that cannot receive the host's memory forms a domain alone.
    std::vector<int> domain_of;
    int n_domains = 1;
    std::vector<int> members;  ///< members of this PE's domain, in order
    int machine_pes = 1;       ///< PEs that run on this PE's machine, whatever their hosts are called
    int machine_index = 0;     ///< this PE's place among these

    /// All PEs on one host.
    static Hosts one(int n_pes, int my_pe);
    int n_hosts() const { return static_cast<int>(names.size()); }
};

/// The host name that ATOLL_HOST_ID gives to a PE: its element of the repeated list; empty if the list is.
std::string host_id_of(const std::vector<std::string>& names, int pe);

/// Collective: finds the host and domain of each PE. `sharing` lists the PEs that received this PE's memory
/// (HostSegment::pes); ATOLL_HOST_ID may divide them further. `note` is an additional text that this PE sends
/// to all; `notes` receives the texts of all.
Hosts find_hosts(Bootstrap& bootstrap, const common::Settings& settings, const std::vector<int>& sharing,
                 const std::string& note, std::vector<std::string>& notes);

}  // namespace atl::bootstrap
