/* Module state: the job's teams as kernels of one module see them, and the list of modules by which the
 * library fills it. C++ with CUDA alone. */
#ifndef ATOLL_NVSHMEM_STATE_H
#define ATOLL_NVSHMEM_STATE_H

#include "atoll/device/team.hpp"

namespace atl::nvshmem_kernel {

/// Teams have numbers below this in kernels. A module's state is in constant memory, of which it takes 4 KiB.
constexpr int most_teams = 64;

/// All zeros until the library fills it. A team that this PE is not in, or that is not known, has no control.
struct State {
    device::Team world;
    device::Team teams[most_teams];  ///< by number; the world again is number 0
};

/// A module with kernels: an object of its source file, in a list of the library's. `fill` copies the state
/// to the module on the current GPU, and returns 0 if CUDA did so.
struct Module {
    int (*fill)(const void* state, unsigned long bytes);
    int far;               ///< 1: its kernels reach PEs of other hosts (ATOLL_DEVICE_FAR)
    unsigned long filled;  ///< the number of the state that it has; 0: none
    Module* next;
};

}  // namespace atl::nvshmem_kernel

#endif
