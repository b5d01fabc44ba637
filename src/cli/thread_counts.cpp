#include "cli/thread_counts.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "common/machine.hpp"

namespace atl::cli {
namespace {

constexpr const char* variables[] = {
    "OMP_NUM_THREADS",       // OpenMP, and libraries built with it
    "OPENBLAS_NUM_THREADS",  // NumPy's and SciPy's own BLAS
    "MKL_NUM_THREADS",       // Intel's
    "BLIS_NUM_THREADS",      // AMD's
    "NUMEXPR_NUM_THREADS",  "NUMBA_NUM_THREADS",
};

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

}  // namespace

bool is_thread_variable(const std::string& name) {
    return std::find(std::begin(variables), std::end(variables), name) != std::end(variables);
}

int share_threads(int n_pes, bool is_bound) {
    if (n_pes < 2 || is_bound || is_set("SLURM_CPUS_PER_TASK")) return 0;
    if (std::any_of(std::begin(variables), std::end(variables), is_set)) return 0;
    const int each = std::max(common::usable_cpus() / n_pes, 1);
    for (const char* name : variables) setenv(name, std::to_string(each).c_str(), 1);
    return each;
}

}  // namespace atl::cli
