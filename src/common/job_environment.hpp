// What those that start a process leave in its environment about the job it belongs to.
#pragma once

#include <string>

namespace atl::common {

/// Empty where the variable is absent or empty.
struct JobEnvironment {
    std::string launched;                                    ///< ATOLL_LAUNCHED, from `atoll run`
    std::string join;                                        ///< ATOLL_JOIN, from `atoll run --hosts`
    std::string rank, world_size, master_addr, master_port;  ///< as torchrun sets them
    bool agent_store = false;  ///< TORCHELASTIC_USE_AGENT_STORE=True: torchrun itself listens at the port

    std::string pmix_rank, open_mpi_size;
    std::string pmix_namespace, pmix_prefix;  ///< of a server that speaks PMIx, and where it is installed
    std::string pmi_fd, pmi_rank, pmi_size, pmi_job;  ///< of one that speaks PMI
    /// SLURM_STEP_NUM_TASKS, SLURM_PROCID, SLURM_MPI_TYPE
    std::string slurm_tasks, slurm_task, slurm_mpi;
    bool hydra =
        false;  ///< an mpiexec of MPICH's kind started this process, perhaps within a step of Slurm's

    bool has_pmi() const { return !pmi_fd.empty() && !pmi_rank.empty() && !pmi_size.empty(); }
    /// srun --mpi=pmi2 did. What it leaves in the environment reaches programs of an mpiexec within, too.
    bool speaks_pmi2() const { return has_pmi() && slurm_mpi == "pmi2" && !hydra; }
    /// srun started this program as one of several, and set up nothing by which they could find each other.
    bool srun_without_pmi() const {
        return !slurm_task.empty() && slurm_tasks.find_first_not_of("01") != std::string::npos &&
               pmix_namespace.empty() && !has_pmi();
    }
    /// Where a launcher's variables say that this program is one of several, but not all of them are here by
    /// which these find each other: "RANK is set, but WORLD_SIZE, MASTER_ADDR and MASTER_PORT are not".
    /// Empty where nothing is missing.
    std::string incomplete() const;
    bool has_torchrun_variables() const {
        return !rank.empty() && !world_size.empty() && !master_addr.empty() && !master_port.empty();
    }
};

JobEnvironment read_job_environment();
/// Removes ATOLL_LAUNCHED, so that programs which this process starts are jobs of their own.
void forget_launched();
void forget_join();

}  // namespace atl::common
