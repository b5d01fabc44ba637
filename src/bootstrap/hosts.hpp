// Which PEs of a job stand on which host, and which of them share memory: found once, when the job starts.
#pragma once

#include "bootstrap/bootstrap.hpp"

#include <string>
#include <vector>

namespace atl::bootstrap {

/// Alike on all PEs, but for `members`, which are of this PE's domain.
struct Hosts {
    std::vector<int> host_of;        ///< by PE; hosts count from 0 by their first PE
    std::vector<std::string> names;  ///< of hosts, for people
    /// By PE: those of one number load and store each other's memory. All of a domain are of one host; a PE
    /// that cannot be handed a host's memory is a domain of its own.
    std::vector<int> domain_of;
    int n_domains = 1;
    std::vector<int> members;  ///< of this PE's domain, in order
    int machine_pes = 1;       ///< PEs that run on this PE's machine, whatever their hosts are called
    int machine_index = 0;     ///< this PE's place among these

    /// All PEs on one host.
    static Hosts one(int n_pes, int my_pe);
    int n_hosts() const { return static_cast<int>(names.size()); }
};

/// The name that ATOLL_HOST_ID gives to a PE: the whole text, or its part of a list. Throws Error(settings).
std::string host_id_of(const std::string& setting, int pe);

/// Collective: who is where. `sharing` are the PEs that were given this PE's memory (HostSegment::pes);
/// ATOLL_HOST_ID may part them further. `note` is what this PE tells all others besides, `notes` what all
/// told.
Hosts find_hosts(Bootstrap& bootstrap, const common::Settings& settings, const std::vector<int>& sharing,
                 const std::string& note, std::vector<std::string>& notes);

}  // namespace atl::bootstrap
