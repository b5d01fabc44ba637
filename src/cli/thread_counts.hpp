// The number of threads that numerical libraries start in each PE.
#pragma once

#include <string>

namespace atl::cli {

/// True for OMP_NUM_THREADS and the corresponding variables of other libraries.
bool is_thread_variable(const std::string& name);

/// Sets these variables in this process's environment, which PEs inherit. The threads of `n_pes` PEs together
/// are then no more than the available cores. By default each library starts one thread a core in every PE.
/// Changes nothing for one PE, if one of the variables or SLURM_CPUS_PER_TASK is set, or if `is_bound`:
/// libraries then count a PE's own cores. Returns the value set; 0: none.
int share_threads(int n_pes, bool is_bound);

}  // namespace atl::cli
