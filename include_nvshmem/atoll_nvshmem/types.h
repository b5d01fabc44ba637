/* Types and constants of nvshmem.h. Most values are Atoll's own: a program is compiled with this header. */
#ifndef ATOLL_NVSHMEM_TYPES_H
#define ATOLL_NVSHMEM_TYPES_H

/* Programs rely on the standard headers that NVSHMEM's own include. */
#if defined(ATOLL_NVSHMEM_BITCODE) /* src/nvshmem/bitcode */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#elif defined(__CUDACC_RTC__)
/* NVRTC has no headers of the host: the program names CUDA's, which have CCCL. */
#if !__has_include(<cuda/std/climits>)
#error \
    "NVRTC needs the headers of CUDA's CCCL: add -I$CUDA_HOME/include/cccl, or $CUDA_HOME/include before CUDA 13"
#endif
#include <cuda/std/climits>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#else
#include <assert.h>
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
#if !defined(__CUDACC_RTC__) && __has_include(<cuda.h>)
#include <cuda.h>
#endif
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
typedef struct CUmod_st* CUmodule; /* declared like this in cuda.h */
typedef struct CUlib_st* CUlibrary;

#include "atoll_nvshmem/version.h"

#define NVSHMEM_MAX_NAME_LEN 256

typedef int32_t nvshmem_team_t;
typedef nvshmem_team_t nvshmemx_team_t;
typedef uint64_t nvshmemx_team_uniqueid_t;
typedef int nvshmemx_qp_handle_t;
typedef uint64_t nvshmemx_region_handle_t;
/* A version of the library: NVSHMEM's own tests keep that of their compilation in it. */
typedef struct {
    int major;
    int minor;
    int patch;
} nvshmemi_version_t;

/* Teams that exist from the start. Members of MC_SHARED reach each other by loads and stores; Atoll has no
 * multicast memory. */
typedef enum {
    NVSHMEM_TEAM_INVALID = -1,
    NVSHMEM_TEAM_WORLD = 0,
    NVSHMEM_TEAM_WORLD_INDEX = NVSHMEM_TEAM_WORLD,
    NVSHMEM_TEAM_SHARED = 1,
    NVSHMEM_TEAM_SHARED_INDEX = NVSHMEM_TEAM_SHARED,
    NVSHMEMX_TEAM_NODE = 2,
    NVSHMEM_TEAM_NODE_INDEX = NVSHMEMX_TEAM_NODE,
    NVSHMEMX_TEAM_SAME_MYPE_NODE = 3,
    NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = NVSHMEMX_TEAM_SAME_MYPE_NODE,
    NVSHMEM_TEAM_SAME_GPU_INDEX = 4,    /* no team: see docs/from-nvshmem.md */
    NVSHMEM_TEAM_GPU_LEADERS_INDEX = 5, /* no team: see docs/from-nvshmem.md */
    NVSHMEM_TEAM_MC_SHARED = 6,
    NVSHMEM_TEAM_MC_SHARED_INDEX = NVSHMEM_TEAM_MC_SHARED,
    NVSHMEM_TEAMS_MIN = 7,
    NVSHMEM_TEAM_INDEX_MAX = INT_MAX
} nvshmem_team_id_t;

/* NVSHMEM's own numbers, in another order than OpenSHMEM's: kernels in Triton write them as numbers. */
typedef enum {
    NVSHMEM_CMP_EQ = 0,
    NVSHMEM_CMP_NE,
    NVSHMEM_CMP_GT,
    NVSHMEM_CMP_LE,
    NVSHMEM_CMP_LT,
    NVSHMEM_CMP_GE,
    NVSHMEM_CMP_SENTINEL = INT_MAX
} nvshmemx_cmp_type_t;

typedef enum { NVSHMEM_SIGNAL_SET = 9, NVSHMEM_SIGNAL_ADD = 10 } nvshmemx_signal_op_t;

typedef enum {
    NVSHMEM_THREAD_SINGLE = 0,
    NVSHMEM_THREAD_FUNNELED,
    NVSHMEM_THREAD_SERIALIZED,
    NVSHMEM_THREAD_MULTIPLE,
    NVSHMEM_THREAD_TYPE_SENTINEL = INT_MAX
} nvshmemx_thread_support_t;

typedef enum {
    NVSHMEM_STATUS_NOT_INITIALIZED = 0,
    NVSHMEM_STATUS_IS_BOOTSTRAPPED,
    NVSHMEM_STATUS_IS_INITIALIZED,
    NVSHMEM_STATUS_LIMITED_MPG,
    NVSHMEM_STATUS_FULL_MPG,
    NVSHMEM_STATUS_INVALID = INT_MAX
} nvshmemx_init_status_t;

typedef enum nvshmemx_status {
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

typedef enum {
    NVSHMEMX_QP_HOST = 0,
    NVSHMEMX_QP_DEFAULT = 1,
    NVSHMEMX_QP_ANY = INT_MAX,
    NVSHMEMX_QP_ALL = INT_MAX
} nvshmemx_qp_handle_index_t;

typedef enum {
    NVSHMEM_PE_INVALID = -1,
    NVSHMEMX_PE_ANY = 1 << 15,
    NVSHMEMX_PE_ALL = 1 << 15
} nvshmem_pe_index_t;

/* Ways to start a job; combine none of them. */
enum flags {
    NVSHMEMX_INIT_THREAD_PES = 1,
    NVSHMEMX_INIT_WITH_MPI_COMM = 1 << 1,
    NVSHMEMX_INIT_WITH_SHMEM = 1 << 2,
    NVSHMEMX_INIT_WITH_UNIQUEID = 1 << 3,
    NVSHMEMX_INIT_MAX = INT_MIN
};

typedef enum {
    NVSHMEMX_SMEM_RECOMMENDED = 0,
    NVSHMEMX_SMEM_MINIMUM,
    NVSHMEMX_SMEM_BARRIERS_ONLY,
    NVSHMEMX_SMEM_AMOUNT_MAX = INT_MAX
} nvshmemx_smem_amount_t;

/* Use of a block's shared memory by NVSHMEM's copies. Atoll's use none. */
typedef enum {
    NVSHMEMX_TMA_DISABLE = 0,
    NVSHMEMX_TMA_ENABLE = 1,
    NVSHMEMX_TMA_FORCE = 2,
    NVSHMEMX_TMA_POLICY_MAX = INT_MAX
} nvshmemx_tma_policy_t;

/* The bytes at the start of a block's shared memory that NVSHMEM keeps for itself. */
#define NVSHMEMI_SMEM_DATA_REGION_OFFSET 1024

/* The version of a struct: its number and its size, as NVSHMEM writes them. */
#define ATOLL_NVSHMEM_STRUCT_VERSION(number, type) (((number) << 16) + (int)sizeof(type))

/* The bytes of structs that have no name, as in NVSHMEM's: programs pass a unique id as 128 bytes. */
#define UNIQUEID_PADDING 124
#define INIT_ARGS_PADDING 96
#define INIT_ARGS_V2_PADDING 92
#define TEAM_CONFIG_PADDING 56
#define TEAM_CONFIG_V2_PADDING 48

typedef struct {
    int version;
    char internal[UNIQUEID_PADDING];
} nvshmemx_uniqueid_v1;
typedef nvshmemx_uniqueid_v1 nvshmemx_uniqueid_t;

typedef struct {
    int version;
    nvshmemx_uniqueid_t* id;
    int myrank;
    int nranks;
} nvshmemx_uniqueid_args_v1;
typedef nvshmemx_uniqueid_args_v1 nvshmemx_uniqueid_args_t;

typedef struct {
    int version;
    nvshmemx_uniqueid_args_t uid_args;
    char content[INIT_ARGS_PADDING];
} nvshmemx_init_args_v1;
typedef struct {
    int version;
    nvshmemx_uniqueid_args_t uid_args;
    int cuda_device_id;
    char content[INIT_ARGS_V2_PADDING];
} nvshmemx_init_args_v2;
typedef nvshmemx_init_args_v2 nvshmemx_init_args_t;

typedef struct {
    int version;
    void* mpi_comm; /* the address of an MPI_Comm */
    nvshmemx_init_args_t args;
} nvshmemx_init_attr_v2;
typedef nvshmemx_init_attr_v2 nvshmemx_init_attr_v1; /* they differ in the version alone */
typedef nvshmemx_init_attr_v2 nvshmemx_init_attr_t;

#define UNIQUEID_ARGS_INVALID (-1)
#define INIT_ARGS_SCALAR_INVALID (-1)
#define NVSHMEM_INIT_ATTR_VER 1
#define NVSHMEM_INIT_ARGS_V2_IDENTIFIER ATOLL_NVSHMEM_STRUCT_VERSION(2, nvshmemx_init_args_t)
#define NVSHMEM_INIT_ATTR_V1_IDENTIFIER ATOLL_NVSHMEM_STRUCT_VERSION(1, nvshmemx_init_attr_t)
#define NVSHMEM_INIT_ATTR_V2_IDENTIFIER ATOLL_NVSHMEM_STRUCT_VERSION(2, nvshmemx_init_attr_t)

#define NVSHMEMX_UNIQUEID_INITIALIZER                               \
    {                                                               \
        ATOLL_NVSHMEM_STRUCT_VERSION(1, nvshmemx_uniqueid_t), { 0 } \
    }
#define NVSHMEMX_UNIQUEID_ARGS_INITIALIZER                                                      \
    {                                                                                           \
        ATOLL_NVSHMEM_STRUCT_VERSION(1, nvshmemx_uniqueid_args_t), NULL, UNIQUEID_ARGS_INVALID, \
            UNIQUEID_ARGS_INVALID                                                               \
    }
/* Initializes an object of nvshmemx_init_args_v1. */
#define NVSHMEMX_INIT_ARGS_INITIALIZER                                                                   \
    {                                                                                                    \
        ATOLL_NVSHMEM_STRUCT_VERSION(1, nvshmemx_init_args_t), NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, { 0 } \
    }
#define NVSHMEMX_INIT_ARGS_V2_INITIALIZER                                                                    \
    {                                                                                                        \
        NVSHMEM_INIT_ARGS_V2_IDENTIFIER, NVSHMEMX_UNIQUEID_ARGS_INITIALIZER, INIT_ARGS_SCALAR_INVALID, { 0 } \
    }
#define NVSHMEMX_INIT_ATTR_INITIALIZER \
    { NVSHMEM_INIT_ATTR_V2_IDENTIFIER, NULL, NVSHMEMX_INIT_ARGS_V2_INITIALIZER }
#define NVSHMEMX_INIT_ATTR_V1_INITIALIZER \
    { NVSHMEM_INIT_ATTR_V1_IDENTIFIER, NULL, NVSHMEMX_INIT_ARGS_V2_INITIALIZER }
/* Marks attributes that a program filled itself. */
#define nvshmemx_init_init_attr_ver_only(attr)                                                    \
    do {                                                                                          \
        (attr).version = NVSHMEM_INIT_ATTR_V1_IDENTIFIER;                                         \
        (attr).args.version = ATOLL_NVSHMEM_STRUCT_VERSION(1, nvshmemx_init_args_t);              \
        (attr).args.uid_args.version = ATOLL_NVSHMEM_STRUCT_VERSION(1, nvshmemx_uniqueid_args_t); \
    } while (0)

typedef struct {
    int version;
    int num_contexts;
    char padding[TEAM_CONFIG_PADDING];
} nvshmem_team_config_v1;
typedef struct {
    int version;
    int num_contexts;
    nvshmemx_team_uniqueid_t uniqueid;
    char padding[TEAM_CONFIG_V2_PADDING];
} nvshmem_team_config_v2;
typedef nvshmem_team_config_v2 nvshmem_team_config_t;

#define TEAM_CONFIG_SCALAR_INVALID (-1)
#define TEAM_SCALAR_INVALID (-1)
#define TEAM_USCALAR_INVALID 0xFFFFFFFF
#define TEAM_ULSCALAR_DEFAULT 0
#define TEAM_ULSCALAR_INVALID 0xFFFFFFFFFFFFFFFF
#define NVSHMEM_TEAM_UNIQUID_INITIALIZER TEAM_ULSCALAR_INVALID
#define NVSHMEM_TEAM_CONFIG_INITIALIZER                                                     \
    {                                                                                       \
        ATOLL_NVSHMEM_STRUCT_VERSION(2, nvshmem_team_config_t), TEAM_CONFIG_SCALAR_INVALID, \
            NVSHMEM_TEAM_UNIQUID_INITIALIZER, {                                             \
            0                                                                               \
        }                                                                                   \
    }
#define NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS 1
#define NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID 2

#define NVSHMEMX_REGION_ATTRS_RESERVED_BYTES 60
typedef enum { NVSHMEMX_REGION_HINT_NONE = 0, NVSHMEMX_REGION_HINT_BATCH_RMA = 1 } nvshmemx_region_hint_t;
typedef struct {
    uint32_t hints;
    char reserved[NVSHMEMX_REGION_ATTRS_RESERVED_BYTES];
} nvshmemx_region_attrs_t;
#define NVSHMEMX_REGION_ATTRS_INITIALIZER \
    {                                     \
        NVSHMEMX_REGION_HINT_NONE, { 0 }  \
    }

#endif
