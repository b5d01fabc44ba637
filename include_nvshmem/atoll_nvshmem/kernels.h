/* NVSHMEM's functions for kernels, on atoll/device. They take no team, so each module has its teams in
 * constant memory. The library fills that when symmetric memory is first allocated, and when a team is made.
 */
#ifndef ATOLL_NVSHMEM_KERNELS_H
#define ATOLL_NVSHMEM_KERNELS_H
#if defined(__CUDACC__)

#if __cplusplus < 201402L
#error Kernels that call NVSHMEM functions need C++14 on Atoll: compile with -std=c++14 or later
#include "add -std=c++14"  // a missing file ends the compilation, where #error goes on to more errors
#endif

/* A call to a PE before the state is filled finds a team of no PEs, so the check costs valid calls nothing.
 */
#define ATOLL_DEVICE_NO_TEAM() ::atl::nvshmem_kernel::refuse_unfilled()

#include "atoll_nvshmem/state.h"

namespace atl::nvshmem_kernel {
ATOLL_ANYWHERE inline void refuse_unfilled();
}

#include "atoll/device/device.hpp"
#if defined(ATOLL_NVSHMEM_HALVES)
#include "atoll/device/half.hpp"
#endif

/* Separate compilation links all sources into one module, whose state is then one. */
#if defined(__CUDACC_RDC__) && !defined(__CUDACC_RTC__)
#define ATOLL_NVSHMEM_CONSTANT inline __constant__
#else
#define ATOLL_NVSHMEM_CONSTANT __constant__
#endif
/* Programs look for this name of NVSHMEM's in a module, to know if it needs nvshmemx_cumodule_init. */
extern "C" {
ATOLL_NVSHMEM_CONSTANT atl::nvshmem_kernel::State nvshmemi_device_state_d;
}

#include "atoll_nvshmem/kernel_bodies.h"

/* Before the functions of a thread, and before those of a warp or a block. Each call of the latter has
 * registers of its own, so that kernels of 1024 threads can be launched. The bitcode has all of them, called
 * or not. */
#if defined(ATOLL_NVSHMEM_BITCODE)
#define ATOLL_NVSHMEM_BY_THREAD __device__ __attribute__((always_inline))
#define ATOLL_NVSHMEM_BY_MANY __device__ __noinline__
#define ATOLL_NVSHMEM_SHARED ATOLL_NVSHMEM_BY_THREAD
#else
#define ATOLL_NVSHMEM_BY_THREAD __device__ inline
#define ATOLL_NVSHMEM_BY_MANY __device__ __noinline__ inline
#define ATOLL_NVSHMEM_SHARED ATOLL_NVSHMEM_BOTH inline
#endif

extern "C" {
#include "atoll_nvshmem/kernel_functions.h"
#if defined(__CUDA_ARCH__)
#include "atoll_nvshmem/shared_functions.h"
#endif
#define nvshmemx_sync_warp nvshmemx_team_sync_warp
#define nvshmemx_sync_block nvshmemx_team_sync_block
}

#if !defined(__CUDACC_RTC__)
namespace {  // one for each source file, as the state is

int atoll_nvshmem_fill(const void* state, unsigned long bytes) {
    if (bytes != sizeof(atl::nvshmem_kernel::State)) return -1;
    return static_cast<int>(cudaMemcpyToSymbol(nvshmemi_device_state_d, state, bytes));
}
/// Registers this file's state while the program loads.
struct AtollNvshmemModule {
    AtollNvshmemModule() { atoll_nvshmem_add_module(&module); }
    ~AtollNvshmemModule() { atoll_nvshmem_remove_module(&module); }
    AtollNvshmemModule(const AtollNvshmemModule&) = delete;
    AtollNvshmemModule& operator=(const AtollNvshmemModule&) = delete;
    atl::nvshmem_kernel::Module module{atoll_nvshmem_fill, ATOLL_DEVICE_FAR, 0, nullptr};
};
AtollNvshmemModule atoll_nvshmem_module;

}  // namespace
#endif

#endif
#endif
