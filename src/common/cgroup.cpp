#include "common/cgroup.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace atl::common {
namespace {

std::string first_line(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// "max", "-1" and a missing file all mean: no limit.
void lower(std::uint64_t& limit, const std::string& text) {
    if (text.empty() || text[0] < '0' || text[0] > '9') return;
    limit = std::min<std::uint64_t>(limit, std::strtoull(text.c_str(), nullptr, 10));
}

void lower(double& limit, const std::string& quota, const std::string& period) {
    const double per = std::strtod(period.c_str(), nullptr);
    const double share = std::strtod(quota.c_str(), nullptr);
    if (share > 0 && per > 0) limit = std::min(limit, share / per);
}

/// Calls `visit` with the folder of every level from `path` up to the root of the hierarchy at `mount`.
template <class Visit> void walk_up(const std::string& mount, std::string path, Visit visit) {
    for (;;) {
        visit(mount + path);
        if (path.empty()) return;
        path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
}

/// Returns the value of the line `name` in a file of counters such as memory.stat; 0 if there is no such
/// line.
std::uint64_t counter_of(const std::string& path, const std::string& name) {
    std::ifstream file(path);
    std::string key;
    for (std::uint64_t value = 0; file >> key >> value;)
        if (key == name) return value;
    return 0;
}

/// The memory files of one version of control groups.
struct MemoryFiles {
    const char *limit, *used, *reclaimable;
};
constexpr MemoryFiles memory_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr MemoryFiles memory_2{"/memory.max", "/memory.current", "inactive_file"};

void read_memory(CgroupLimits& limits, const std::string& folder, const MemoryFiles& files) {
    std::uint64_t limit = no_memory_limit, used = 0;
    lower(limit, first_line(folder + files.limit));
    if (limit == no_memory_limit) return;
    limits.memory_bytes = std::min(limits.memory_bytes, limit);
    used = std::strtoull(first_line(folder + files.used).c_str(), nullptr, 10);
    used -= std::min(used, counter_of(folder + "/memory.stat", files.reclaimable));
    limits.memory_left_bytes = std::min(limits.memory_left_bytes, limit - std::min(limit, used));
}

void read_version_2(CgroupLimits& limits, const std::string& folder) {
    read_memory(limits, folder, memory_2);
    std::istringstream cpu(first_line(folder + "/cpu.max"));
    std::string quota, period;
    cpu >> quota >> period;
    lower(limits.cpus, quota, period);
}

}  // namespace

CgroupLimits cgroup_limits(const std::string& membership, const std::string& root) {
    CgroupLimits limits;
    std::istringstream lines(membership);
    for (std::string line; std::getline(lines, line);) {  // "number:controllers:path"
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
        std::string path = line.substr(second + 1);
        if (path == "/") path.clear();
        if (controllers == ",,") {
            walk_up(root, path, [&](const std::string& folder) { read_version_2(limits, folder); });
            walk_up(root + "/unified", path,
                    [&](const std::string& folder) { read_version_2(limits, folder); });
        }
        if (controllers.find(",memory,") != std::string::npos) {
            walk_up(root + "/memory", path,
                    [&](const std::string& folder) { read_memory(limits, folder, memory_1); });
        }
        if (controllers.find(",cpu,") != std::string::npos) {
            walk_up(root + "/cpu", path, [&](const std::string& folder) {
                lower(limits.cpus, first_line(folder + "/cpu.cfs_quota_us"),
                      first_line(folder + "/cpu.cfs_period_us"));
            });
        }
    }
    return limits;
}

CgroupLimits cgroup_limits() {
    std::ifstream file("/proc/self/cgroup");
    const std::string membership((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return cgroup_limits(membership, "/sys/fs/cgroup");
}

}  // namespace atl::common
