#include "transport/ucx/endpoint_transports.hpp"

#include "common/settings/foreign_environment.hpp"

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
    ucp_transport_entry_t entries[32] = {};
    ucp_ep_attr_t attributes{};
    attributes.field_mask = UCP_EP_ATTR_FIELD_TRANSPORTS;
    attributes.transports = {entries, std::size(entries), sizeof(ucp_transport_entry_t)};
    if (ucp.ep_query(endpoint, &attributes) != UCS_OK) return false;
    auto* end = entries + std::min<std::size_t>(attributes.transports.num_entries, std::size(entries));
    return std::any_of(entries, end, [&](const ucp_transport_entry_t& entry) {
        return entry.transport_name && reaches(ucp, entry.transport_name, memory);
    });
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
