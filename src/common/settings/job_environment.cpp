#include "common/settings/job_environment.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <utility>
#include <vector>

#include "common/text.hpp"

namespace atl::common {

std::string environment_value(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

namespace {

struct Named {
    const char* name;
    const std::string& value;
};

std::string list(const std::vector<std::string>& names) {
    return list_text(names) + (names.size() == 1 ? " is" : " are");
}

std::string missing_of(std::initializer_list<Named> variables) {
    std::vector<std::string> set, missing;
    for (const Named& variable : variables)
        (variable.value.empty() ? missing : set).emplace_back(variable.name);
    if (missing.empty()) return "";
    return list(set) + " set, but " + list(missing) + " not";
}

/// The entries of the record, such as {"RANK", "0"}.
std::vector<std::pair<std::string, std::string>> recorded() {
    std::vector<std::pair<std::string, std::string>> entries;
    std::istringstream words(environment_value(ranks_record));
    for (std::string word; words >> word;) {
        const std::size_t sign = std::min(word.find('='), word.size() - 1);
        entries.emplace_back(word.substr(0, sign), word.substr(sign + 1));
    }
    return entries;
}

/// True for the variables that connect processes; a program may change the others alone, such as LOCAL_RANK.
bool connects(const std::string& name) {
    return name == "RANK" || name == "WORLD_SIZE" || name == "MASTER_ADDR" || name == "MASTER_PORT";
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
    e.launched = environment_value("ATOLL_LAUNCHED");
    e.join = environment_value("ATOLL_JOIN");
    if (!is_set_by_run("RANK")) {
        e.rank = environment_value("RANK");
        e.world_size = environment_value("WORLD_SIZE");
    }
    e.master_addr = environment_value("MASTER_ADDR");
    e.master_port = environment_value("MASTER_PORT");
    const std::string agent = environment_value("TORCHELASTIC_USE_AGENT_STORE");
    e.agent_store = agent == "True" || agent == "true" || agent == "1";
    e.pmix_rank = environment_value("PMIX_RANK");
    e.open_mpi_size = environment_value("OMPI_COMM_WORLD_SIZE");
    e.pmix_namespace = environment_value("PMIX_NAMESPACE");
    for (const char* name : {"PMIX_PREFIX", "PMIX_INSTALL_PREFIX", "OPAL_PREFIX", "PRTE_PREFIX"})
        if (e.pmix_prefix.empty()) e.pmix_prefix = environment_value(name);
    e.pmi_fd = environment_value("PMI_FD");
    e.pmi_rank = environment_value("PMI_RANK");
    e.pmi_size = environment_value("PMI_SIZE");
    e.pmi_job = environment_value("PMI_JOBID");
    e.slurm_tasks = environment_value("SLURM_STEP_NUM_TASKS");
    e.slurm_task = environment_value("SLURM_PROCID");
    e.slurm_mpi = environment_value("SLURM_MPI_TYPE");
    e.hydra = !environment_value("MPI_LOCALRANKID").empty();
    return e;
}

void forget_join() { ::unsetenv("ATOLL_JOIN"); }
void forget_launched() { ::unsetenv("ATOLL_LAUNCHED"); }

bool is_set_by_run(const std::string& name) {
    bool found = false;
    for (const auto& [recorded_name, value] : recorded()) {
        const bool is_same = environment_value(recorded_name.c_str()) == value;
        if (!is_same && connects(recorded_name)) return false;
        if (recorded_name == name) found = is_same;
    }
    return found;
}

void forget_run_ranks() {
    std::vector<std::string> names = {ranks_record};
    for (const auto& [name, value] : recorded())
        if (is_set_by_run(name)) names.push_back(name);
    for (const std::string& name : names) ::unsetenv(name.c_str());
}

}  // namespace atl::common
