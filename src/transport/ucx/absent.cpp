// Stubs for builds with a sanitizer, in which UCX does not run. They throw Error(unsupported).
#include "atoll/error.hpp"
#include "transport/ucx/ucx.hpp"

namespace atl::transport {

[[noreturn]] static void refuse() {
    throw Error(
        ErrorCode::unsupported,
        "This build of Atoll reaches no other hosts, because it has a sanitizer. Use a build without one.");
}

std::unique_ptr<Transport> create_ucx(UcxOptions) { refuse(); }
std::string describe_ucx(const std::string&) { refuse(); }

}  // namespace atl::transport
