// Resources of the machine for this process: memory and CPUs.
#pragma once

#include <cstdint>

namespace atl::common {

/// Memory this process may use: the smaller of the machine's and the cgroup's limit, in bytes.
std::uint64_t memory_limit_bytes();
/// Memory in bytes for new pages of this process now, without swapping: the smaller of the machine's and the
/// cgroup's rest. UINT64_MAX if both are unknown.
std::uint64_t available_memory_bytes();
/// CPUs this process may run on (affinity and cgroup quota), at least 1.
int usable_cpus();
/// CPUs of a whole job on this machine, of which Slurm and MPI bind each process to a few. Slurm tells the
/// number; MPI's launcher is the parent, which has all.
int usable_cpus_of_job();
/// Default heap limit of one of `host_pes` PEs of a host: half of the memory limit, divided among them.
std::uint64_t default_heap_bytes(int host_pes);

}  // namespace atl::common
