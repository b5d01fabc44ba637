// What those that start a process leave in its environment about the job it belongs to.
#pragma once

#include <string>

namespace atl::common {

/// Empty where the variable is absent or empty.
struct JobEnvironment {
    std::string launched;                                    ///< ATOLL_LAUNCHED, from `atoll run`
    std::string rank, world_size, master_addr, master_port;  ///< as torchrun sets them
    bool agent_store = false;  ///< TORCHELASTIC_USE_AGENT_STORE=True: torchrun itself listens at the port

    bool has_torchrun_variables() const {
        return !rank.empty() && !world_size.empty() && !master_addr.empty() && !master_port.empty();
    }
};

JobEnvironment read_job_environment();
/// Removes ATOLL_LAUNCHED, so that programs which this process starts are jobs of their own.
void forget_launched();

}  // namespace atl::common
