#include "common/machine.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "common/cgroup.hpp"

namespace atl::common {
namespace {

/// The CPUs of a process, 0 being this one.
int cpus_by_affinity(pid_t process) {
    // The kernel refuses sets smaller than its own, so grow until it accepts.
    for (int cpus = 1024; cpus <= 1 << 20; cpus *= 4) {
        std::vector<cpu_set_t> set(static_cast<std::size_t>(cpus) / CPU_SETSIZE);
        const std::size_t bytes = set.size() * sizeof(cpu_set_t);
        if (sched_getaffinity(process, bytes, set.data()) == 0) return CPU_COUNT_S(bytes, set.data());
        if (errno != EINVAL) break;
    }
    return process == 0 ? static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) : 0;
}

int within_quota(int cpus) {
    const double quota = std::ceil(cgroup_limits().cpus);
    return std::max(quota < cpus ? static_cast<int>(quota) : cpus, 1);
}

}  // namespace

std::uint64_t memory_limit_bytes() {
    const auto pages = static_cast<std::uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return std::min(pages * page, cgroup_limits().memory_bytes);
}

std::uint64_t available_memory_bytes() {
    std::uint64_t machine = no_memory_limit, kib = 0;
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    while (machine == no_memory_limit && file >> name >> kib && std::getline(file, unit))
        if (name == "MemAvailable:") machine = kib * 1024;
    return std::min(machine, cgroup_limits().memory_left_bytes);
}

int usable_cpus() { return within_quota(cpus_by_affinity(0)); }

int usable_cpus_of_job() {
    int others = 0;
    if (const char* granted = std::getenv("SLURM_CPUS_ON_NODE"); granted && std::getenv("SLURM_PROCID"))
        others = std::atoi(granted);
    else if (std::getenv("PMIX_RANK") || std::getenv("PMI_RANK") || std::getenv("OMPI_COMM_WORLD_RANK"))
        others = cpus_by_affinity(::getppid());
    return within_quota(std::max(cpus_by_affinity(0), others));
}

std::uint64_t default_heap_bytes(int host_pes) {
    return memory_limit_bytes() / 2 / static_cast<std::uint64_t>(std::max(host_pes, 1));
}

}  // namespace atl::common
