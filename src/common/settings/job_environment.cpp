#include "common/settings/job_environment.hpp"

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace atl::common {
namespace {

std::string value_of(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

struct Named {
    const char* name;
    const std::string& value;
};

std::string list(const std::vector<const char*>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
    return text + (names.size() == 1 ? " is" : " are");
}

std::string missing_of(std::initializer_list<Named> variables) {
    std::vector<const char*> set, missing;
    for (const Named& variable : variables) (variable.value.empty() ? missing : set).push_back(variable.name);
    if (missing.empty()) return "";
    return list(set) + " set, but " + list(missing) + " not";
}

bool is_several(const std::string& count) { return count.find_first_not_of("01") != std::string::npos; }

}  // namespace

std::string JobEnvironment::incomplete() const {
    const bool is_one_of_one = !world_size.empty() && !is_several(world_size);
    if (is_several(world_size) || (!rank.empty() && !is_one_of_one)) {
        std::string text = missing_of({{"RANK", rank},
                                       {"WORLD_SIZE", world_size},
                                       {"MASTER_ADDR", master_addr},
                                       {"MASTER_PORT", master_port}});
        if (!text.empty()) return text;
    }
    if (!pmix_rank.empty() || is_several(open_mpi_size)) {
        std::string text = missing_of({{open_mpi_size.empty() ? "PMIX_RANK" : "OMPI_COMM_WORLD_SIZE",
                                        open_mpi_size.empty() ? pmix_rank : open_mpi_size},
                                       {"PMIX_NAMESPACE", pmix_namespace}});
        if (!text.empty()) return text;
    }
    if (is_several(pmi_size) || (!pmi_rank.empty() && pmi_size.empty()))
        return missing_of({{"PMI_RANK", pmi_rank}, {"PMI_SIZE", pmi_size}, {"PMI_FD", pmi_fd}});
    return "";
}

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
    e.pmix_rank = value_of("PMIX_RANK");
    e.open_mpi_size = value_of("OMPI_COMM_WORLD_SIZE");
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
