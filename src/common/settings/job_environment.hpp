// Variables that launchers leave in a process's environment about its job.
#pragma once

#include <string>

namespace atl::common {

/// A variable's value; empty if it is absent.
std::string environment_value(const char* name);

/// Values of the environment; empty if a variable is absent or empty.
struct JobEnvironment {
    std::string launched;  ///< ATOLL_LAUNCHED, from `atoll run`
    std::string join;      ///< ATOLL_JOIN, from `atoll run --hosts`
    /// Torchrun's. RANK and WORLD_SIZE are empty if `atoll run` has set them, for PyTorch.
    std::string rank, world_size, master_addr, master_port;
    bool agent_store = false;  ///< TORCHELASTIC_USE_AGENT_STORE=True: torchrun itself listens at the port

    std::string pmix_rank, open_mpi_size;
    std::string pmix_namespace,
        pmix_prefix;  ///< from a server that speaks PMIx: its namespace and its folder
    std::string pmi_fd, pmi_rank, pmi_size, pmi_job;  ///< from a server that speaks PMI
    /// SLURM_STEP_NUM_TASKS, SLURM_PROCID, SLURM_MPI_TYPE
    std::string slurm_tasks, slurm_task, slurm_mpi;
    bool hydra =
        false;  ///< an mpiexec of MPICH's kind started this process, perhaps within a step of Slurm's

    bool has_pmi() const { return !pmi_fd.empty() && !pmi_rank.empty() && !pmi_size.empty(); }
    /// True if srun --mpi=pmi2 started this process. Its variables also reach programs of an mpiexec inside
    /// the step.
    bool speaks_pmi2() const { return has_pmi() && slurm_mpi == "pmi2" && !hydra; }
    /// True if srun started this program as one of several, without the means to find the others.
    bool srun_without_pmi() const {
        return !slurm_task.empty() && slurm_tasks.find_first_not_of("01") != std::string::npos &&
               pmix_namespace.empty() && !has_pmi();
    }
    /// Describes an incomplete environment: a launcher's variables declare several processes, but some that
    /// connect them are missing. For example "RANK is set, but WORLD_SIZE, MASTER_ADDR and MASTER_PORT are
    /// not". Empty if nothing is missing.
    std::string incomplete() const;
    bool has_torchrun_variables() const {
        return !rank.empty() && !world_size.empty() && !master_addr.empty() && !master_port.empty();
    }
};

JobEnvironment read_job_environment();
/// Removes ATOLL_LAUNCHED, so that programs started by this process are separate jobs.
void forget_launched();
void forget_join();

/// Records the variables of torch.distributed that `atoll run` sets in a PE: "RANK=0 WORLD_SIZE=2 ...".
/// Processes that the PE starts inherit them, and are separate jobs all the same.
inline constexpr const char* ranks_record = "ATOLL_RUN_RANKS";
/// True if `atoll run` set this variable of torch.distributed. False once another launcher or the program has
/// changed RANK, WORLD_SIZE, MASTER_ADDR or MASTER_PORT.
bool is_set_by_run(const std::string& name);
/// Removes the variables that an `atoll run` around this one has set, and their record.
void forget_run_ranks();

}  // namespace atl::common
