// How many threads numerical libraries start in each PE.
#pragma once

#include <string>

namespace atl::cli {

/// OMP_NUM_THREADS or one of its relatives.
bool is_thread_variable(const std::string& name);

/// Sets these variables in this process's environment, which PEs inherit, so that the threads of `n_pes` PEs
/// together are no more than the cores that this process may use. Each library would else start as many as
/// there are cores, in every PE. Leaves all as they are for one PE, where one of them or SLURM_CPUS_PER_TASK
/// is set, or `is_bound`, since libraries then count a PE's own cores. Returns what it set; 0 = nothing.
int share_threads(int n_pes, bool is_bound);

}  // namespace atl::cli
