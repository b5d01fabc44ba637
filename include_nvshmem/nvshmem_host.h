/* NVSHMEM's functions on Atoll's symmetric memory: those of hosts, with and without a stream, and under nvcc
 * those of kernels. Symmetric memory is the device heap, or without a GPU the host heap. docs/from-nvshmem.md
 * names the differences. */
#ifndef ATOLL_NVSHMEM_HOST_H
#define ATOLL_NVSHMEM_HOST_H

#include "atoll_nvshmem/types.h"

/* After types.h, which tells this header if there are halves. */
#include "atoll_nvshmem/type_lists.h"

/* Before a function that kernels have, too. */
#if defined(__CUDACC_RTC__)
#define ATOLL_NVSHMEM_BOTH __device__
#elif defined(__CUDACC__)
#define ATOLL_NVSHMEM_BOTH __host__ __device__
#else
#define ATOLL_NVSHMEM_BOTH
#endif

/* Before a function that this header defines; bitcode exports it. */
#if defined(ATOLL_NVSHMEM_BITCODE)
#define ATOLL_NVSHMEM_HERE extern "C" __device__
#else
#define ATOLL_NVSHMEM_HERE ATOLL_NVSHMEM_BOTH static inline
#endif

#define nvshmem_sync nvshmem_team_sync

#if !defined(__CUDACC_RTC__)
#include "atoll_nvshmem/status.h"
#endif

/* The bytes of a block's shared memory for NVSHMEM's copies, of which the first
 * NVSHMEMI_SMEM_DATA_REGION_OFFSET are NVSHMEM's own. Atoll uses none: programs keep payload in the others.
 */
ATOLL_NVSHMEM_HERE int nvshmemx_ask_smem(nvshmemx_smem_amount_t flag) {
    return flag == NVSHMEMX_SMEM_BARRIERS_ONLY ? NVSHMEMI_SMEM_DATA_REGION_OFFSET
           : flag == NVSHMEMX_SMEM_MINIMUM     ? 32 << 10
                                               : 64 << 10;
}

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif
#include "atoll_nvshmem/prototypes.h"

int atoll_nvshmem_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes);
/* Joins the job that `flags` and `attributes` describe, as NVSHMEMX_INIT_* name them; 0 is nvshmem_init.
 * Returns 0, or nonzero if the job could not be made: the reason is on standard error. */
static inline int nvshmemx_init_attr(unsigned int flags, nvshmemx_init_attr_t* attributes) {
    return atoll_nvshmem_init_attr(flags, attributes);
}
#include "atoll_nvshmem/launch.h"
#ifdef __cplusplus
}
#endif
#endif

#ifdef __cplusplus
#include "atoll_nvshmem/kernels.h"
#endif

#endif
