// `atoll info --job`, run as the program of a job: prints by which path each PE reaches each other.
#include <cstdio>
#include <string>

#include "atoll/job.hpp"
#include "cli/cli.hpp"
#include "core/job/job_state.hpp"

namespace atl::cli {

int info_of_job() {
    Job job;
    core::JobState& state = job.state();
    const auto lines = state.bootstrap().allgather(state.topology().reaches_text());
    if (job.my_pe() == 0) {
        const int hosts = state.topology().hosts().n_hosts();
        std::printf("job of %d PEs on %d host%s, started by %s\n", job.n_pes(), hosts, hosts == 1 ? "" : "s",
                    std::string(state.bootstrap().name()).c_str());
        for (const std::string& line : lines) std::printf("  %s\n", line.c_str());
    }
    job.finalize();
    return 0;
}

}  // namespace atl::cli
