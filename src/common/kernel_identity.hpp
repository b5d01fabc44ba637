// Identifiers of the running kernel and of this process's namespaces.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <sys/stat.h>

namespace atl::common {

/// Equal for all processes of the running kernel, unique among kernels. Empty if unknown.
inline std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

/// The PID namespace of this process, within which process numbers are valid; 0 if unknown.
inline std::uint64_t own_pid_namespace() noexcept {
    struct stat status {};
    return ::stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
}

}  // namespace atl::common
