// Limits that control groups set for this process.
#pragma once

#include <cstdint>
#include <string>

namespace atl::common {

inline constexpr std::uint64_t no_memory_limit = ~std::uint64_t{0};
inline constexpr double no_cpu_limit = 1e9;

/// Limits of one process: version 1 and 2 hierarchies, every level from the process's group up to the root.
struct CgroupLimits {
    std::uint64_t memory_bytes = no_memory_limit;
    std::uint64_t memory_left_bytes =
        no_memory_limit;  ///< bytes left below the nearest limit; caches count as free
    double cpus = no_cpu_limit;
};

/// `membership` is the text of /proc/self/cgroup, `root` the mount point of control groups. Missing levels
/// (as in a container without its own cgroup namespace) are skipped.
CgroupLimits cgroup_limits(const std::string& membership, const std::string& root);
/// Limits of this process.
CgroupLimits cgroup_limits();

}  // namespace atl::common
