#include "transport/ucx/endpoint_transports.hpp"

#include "common/settings/foreign_environment.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

namespace atl::transport::ucx {
namespace {

/// Minor versions of UCX. From `queries_from` on, ucp_ep_query reports an endpoint's transports. From
/// `copies_from` on, puts and gets over shared memory are remote accesses; before, UCX sends messages.
constexpr unsigned queries_from = 14, copies_from = 16;

// The layout in ucp_ep_attr_t of UCX 1.14 and later; the headers here may be older.
struct TransportName {
    const char* transport;
    const char* device;
};
struct TransportNames {
    TransportName* entries;
    unsigned n;
    std::size_t entry_bytes;
};
struct EndpointAttributes {
    std::uint64_t field_mask;
    char name[UCP_ENTITY_NAME_MAX];
    sockaddr_storage here, there;
    TransportNames transports;
    void* user_data;
};
constexpr std::uint64_t transports_field = 1 << 3;

bool reaches(const Library& ucp, std::string_view transport, ReachedMemory memory) {
    for (const std::string_view network : {"rc_", "dc_", "gga_", "ugni_rdma"})
        if (transport.starts_with(network)) return true;
    if (memory == ReachedMemory::gpu) return false;
    return ucp.minor >= copies_from && (transport == "cma" || transport == "knem" || transport == "xpmem");
}

bool is_of_shared_memory(std::string_view name) {
    constexpr std::string_view names[] = {"sm", "shm", "mm", "posix", "sysv", "cma", "knem", "xpmem", "self"};
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool tells_transports(const Library& ucp) { return ucp.minor >= queries_from; }

bool has_remote_access(const Library& ucp, ucp_ep_h endpoint, ReachedMemory memory) {
    if (!tells_transports(ucp)) return false;
    TransportName names[32] = {};
    EndpointAttributes attributes{};
    attributes.field_mask = transports_field;
    attributes.transports = {names, std::size(names), sizeof(TransportName)};
    if (ucp.ep_query(endpoint, reinterpret_cast<ucp_ep_attr_t*>(&attributes)) != UCS_OK) return false;
    return std::any_of(
        names, names + std::min<std::size_t>(attributes.transports.n, std::size(names)),
        [&](const TransportName& name) { return name.transport && reaches(ucp, name.transport, memory); });
}

bool has_rdma_device() {
    std::error_code ignored;
    return std::filesystem::directory_iterator("/sys/class/infiniband", ignored) !=
           std::filesystem::directory_iterator();
}

bool is_shared_memory_only() {
    std::istringstream list(common::foreign_variable("UCX_TLS").value_or(""));
    bool any = false;
    for (std::string name; std::getline(list, name, ',');) {
        if (!is_of_shared_memory(name)) return false;
        any |= name != "self";
    }
    return any;
}

}  // namespace atl::transport::ucx
