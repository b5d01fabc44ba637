// Stubs for builds without UCX's headers. They throw Error(unsupported).
#include "atoll/error.hpp"
#include "transport/ucx/ucx.hpp"

namespace atl::transport {

[[noreturn]] static void refuse() {
    throw Error(ErrorCode::unsupported,
                "This build of Atoll reaches no other hosts: UCX's headers were not there when it was built "
                "(on Debian: apt-get install libucx-dev).");
}

std::unique_ptr<Transport> create_ucx(UcxOptions) { refuse(); }
std::string describe_ucx(const std::string&) { refuse(); }

}  // namespace atl::transport
