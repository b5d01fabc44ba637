#include "bootstrap/host/host_identity.hpp"

#include <algorithm>
#include <unistd.h>

#include "common/kernel_identity.hpp"

namespace atl::bootstrap {

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0 || !*name) return "unnamed";
    return name;
}

std::string host_identity() {
    char network[64] = {};
    static_cast<void>(!::readlink("/proc/self/ns/net", network, sizeof network - 1));
    return common::boot_id() + " " + network;
}

bool share_a_host(const std::vector<std::string>& identities) {
    return std::all_of(identities.begin(), identities.end(),
                       [&](const std::string& identity) { return identity == identities[0]; });
}

}  // namespace atl::bootstrap
