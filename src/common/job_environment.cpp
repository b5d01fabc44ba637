#include "common/job_environment.hpp"

#include <cstdlib>

namespace atl::common {
namespace {

std::string value_of(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

JobEnvironment read_job_environment() {
    JobEnvironment e;
    e.launched = value_of("ATOLL_LAUNCHED");
    e.rank = value_of("RANK");
    e.world_size = value_of("WORLD_SIZE");
    e.master_addr = value_of("MASTER_ADDR");
    e.master_port = value_of("MASTER_PORT");
    const std::string agent = value_of("TORCHELASTIC_USE_AGENT_STORE");
    e.agent_store = agent == "True" || agent == "true" || agent == "1";
    return e;
}

void forget_launched() { ::unsetenv("ATOLL_LAUNCHED"); }

}  // namespace atl::common
