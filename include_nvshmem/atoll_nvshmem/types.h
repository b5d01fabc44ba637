/* Types and constants of nvshmem.h. Their values are Atoll's own: a program is compiled with this header. */
#ifndef ATOLL_NVSHMEM_TYPES_H
#define ATOLL_NVSHMEM_TYPES_H

/* Programs rely on the standard headers that NVSHMEM's own include. */
#if defined(__CUDACC_RTC__) /* NVRTC has no headers of the host: the program names CUDA's, which have CCCL \
                             */
#include <cuda/std/climits>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#else
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

/* A machine without CUDA has the host functions too, on host memory. */
#if defined(__has_include) && !defined(ATOLL_NVSHMEM_WITHOUT_CUDA)
#if __has_include(<cuda_runtime.h>)
#include <cuda_runtime.h>
#define ATOLL_NVSHMEM_CUDA 1
#if defined(__cplusplus) && __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define ATOLL_NVSHMEM_HALVES 1
#endif
#endif
#endif
#ifndef ATOLL_NVSHMEM_CUDA
typedef struct CUstream_st* cudaStream_t;
#endif
typedef struct CUmod_st* CUmodule; /* as cuda.h declares them */
typedef struct CUlib_st* CUlibrary;

/* The version of OpenSHMEM that the names follow, and the version of NVSHMEM that they were taken from. */
#define NVSHMEM_MAJOR_VERSION 1
#define NVSHMEM_MINOR_VERSION 3
#define NVSHMEM_VENDOR_MAJOR_VERSION 3
#define NVSHMEM_VENDOR_MINOR_VERSION 8
#define NVSHMEM_VENDOR_PATCH_VERSION 0
#define NVSHMEM_VENDOR_VERSION                                                   \
    ((NVSHMEM_VENDOR_MAJOR_VERSION)*10000 + (NVSHMEM_VENDOR_MINOR_VERSION)*100 + \
     (NVSHMEM_VENDOR_PATCH_VERSION))
#define NVSHMEM_VENDOR_STRING "NVSHMEM v3.8.0 on Atoll"
#define NVSHMEM_MAX_NAME_LEN 256

typedef int32_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
typedef uint64_t nvshmemx_team_uniqueid_t;
typedef int nvshmemx_qp_handle_t;
typedef uint64_t nvshmemx_region_handle_t;

enum {
    NVSHMEM_TEAM_INVALID = -1,
    NVSHMEM_TEAM_WORLD = 0,
    NVSHMEM_TEAM_SHARED = 1,
    NVSHMEMX_TEAM_NODE = 2,
    NVSHMEMX_TEAM_SAME_MYPE_NODE = 3,
    NVSHMEM_TEAMS_MIN = 7,
    NVSHMEM_TEAM_INDEX_MAX = INT_MAX
};

typedef enum {
    NVSHMEM_CMP_EQ = 0,
    NVSHMEM_CMP_NE,
    NVSHMEM_CMP_GT,
    NVSHMEM_CMP_GE,
    NVSHMEM_CMP_LT,
    NVSHMEM_CMP_LE
} nvshmemx_cmp_type_t;

typedef enum { NVSHMEM_SIGNAL_SET = 0, NVSHMEM_SIGNAL_ADD = 1 } nvshmemx_signal_op_t;

typedef enum {
    NVSHMEM_THREAD_SINGLE = 0,
    NVSHMEM_THREAD_FUNNELED,
    NVSHMEM_THREAD_SERIALIZED,
    NVSHMEM_THREAD_MULTIPLE
} nvshmemx_thread_support_t;

typedef enum {
    NVSHMEM_STATUS_NOT_INITIALIZED = 0,
    NVSHMEM_STATUS_IS_BOOTSTRAPPED,
    NVSHMEM_STATUS_IS_INITIALIZED,
    NVSHMEM_STATUS_LIMITED_MPG,
    NVSHMEM_STATUS_FULL_MPG,
    NVSHMEM_STATUS_INVALID = INT_MAX
} nvshmemx_init_status_t;

typedef enum {
    NVSHMEMX_SUCCESS = 0,
    NVSHMEMX_ERROR_INVALID_VALUE,
    NVSHMEMX_ERROR_OUT_OF_MEMORY,
    NVSHMEMX_ERROR_NOT_SUPPORTED,
    NVSHMEMX_ERROR_SYMMETRY,
    NVSHMEMX_ERROR_GPU_NOT_SELECTED,
    NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED,
    NVSHMEMX_ERROR_INTERNAL,
    NVSHMEMX_ERROR_SENTINEL = INT_MAX
} nvshmemx_status;

enum { NVSHMEMX_QP_HOST = 0, NVSHMEMX_QP_DEFAULT = 1, NVSHMEMX_QP_ANY = INT_MAX, NVSHMEMX_QP_ALL = INT_MAX };

/* Ways to start a job; combine none of them. */
enum {
    NVSHMEMX_INIT_THREAD_PES = 1,
    NVSHMEMX_INIT_WITH_MPI_COMM = 1 << 1,
    NVSHMEMX_INIT_WITH_SHMEM = 1 << 2,
    NVSHMEMX_INIT_WITH_UNIQUEID = 1 << 3
};

typedef enum {
    NVSHMEMX_SMEM_RECOMMENDED = 0,
    NVSHMEMX_SMEM_MINIMUM,
    NVSHMEMX_SMEM_BARRIERS_ONLY,
    NVSHMEMX_SMEM_AMOUNT_MAX = INT_MAX
} nvshmemx_smem_amount_t;

typedef struct {
    int version;
    char internal[252];
} nvshmemx_uniqueid_t;

typedef struct {
    int version;
    nvshmemx_uniqueid_t* id;
    int myrank;
    int nranks;
} nvshmemx_uniqueid_args_t;

typedef struct {
    int version;
    nvshmemx_uniqueid_args_t uid_args;
    int cuda_device_id;
} nvshmemx_init_args_t;

typedef struct {
    int version;
    void* mpi_comm; /* the address of an MPI_Comm */
    nvshmemx_init_args_t args;
} nvshmemx_init_attr_t;

#define NVSHMEMX_UNIQUEID_INITIALIZER \
    {                                 \
        1, { 0 }                      \
    }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER \
    { 1, NULL, -1, -1 }
#define NVSHMEMX_INIT_ARGS_INITIALIZER \
    { 1, NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, -1 }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
    { 1, NULL, NVSHMEMX_INIT_ARGS_INITIALIZER }

typedef struct {
    int version;
    int num_contexts;
    nvshmemx_team_uniqueid_t uniqueid;
} nvshmem_team_config_t;

#define NVSHMEM_TEAM_CONFIG_INITIALIZER \
    { 1, -1, 0 }
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS 1
#define NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID 2

typedef enum { NVSHMEMX_REGION_HINT_NONE = 0, NVSHMEMX_REGION_HINT_BATCH_RMA = 1 } nvshmemx_region_hint_t;
typedef struct {
    uint32_t hints;
    char reserved[60];
} nvshmemx_region_attrs_t;
#define NVSHMEMX_REGION_ATTRS_INITIALIZER \
    {                                     \
        NVSHMEMX_REGION_HINT_NONE, { 0 }  \
    }

#endif
