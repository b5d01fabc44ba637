// The name and the identity of the host that this process runs on.
#pragma once

#include <string>
#include <vector>

namespace atl::bootstrap {

std::string host_name();
/// An identity of the host and its network namespace. Abstract sockets do not reach across either.
std::string host_identity();
bool share_a_host(const std::vector<std::string>& identities);

}  // namespace atl::bootstrap
