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
    e.join = value_of("ATOLL_JOIN");
    e.rank = value_of("RANK");
    e.world_size = value_of("WORLD_SIZE");
    e.master_addr = value_of("MASTER_ADDR");
    e.master_port = value_of("MASTER_PORT");
    const std::string agent = value_of("TORCHELASTIC_USE_AGENT_STORE");
    e.agent_store = agent == "True" || agent == "true" || agent == "1";
    e.pmix_namespace = value_of("PMIX_NAMESPACE");
    for (const char* name : {"PMIX_PREFIX", "PMIX_INSTALL_PREFIX", "OPAL_PREFIX", "PRTE_PREFIX"})
        if (e.pmix_prefix.empty()) e.pmix_prefix = value_of(name);
    e.pmi_fd = value_of("PMI_FD");
    e.pmi_rank = value_of("PMI_RANK");
    e.pmi_size = value_of("PMI_SIZE");
    e.pmi_job = value_of("PMI_JOBID");
    e.slurm_tasks = value_of("SLURM_STEP_NUM_TASKS");
    e.slurm_task = value_of("SLURM_PROCID");
    e.slurm_mpi = value_of("SLURM_MPI_TYPE");
    e.hydra = !value_of("MPI_LOCALRANKID").empty();
    return e;
}

void forget_join() { ::unsetenv("ATOLL_JOIN"); }
void forget_launched() { ::unsetenv("ATOLL_LAUNCHED"); }

}  // namespace atl::common
