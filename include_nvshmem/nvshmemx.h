/* NVSHMEM's extensions on Atoll: see nvshmem_host.h. */
#ifndef ATOLL_NVSHMEMX_H
#define ATOLL_NVSHMEMX_H

#include "nvshmem.h"

/* Tiles need C++17 and CUDA's `cuda::std`, which NVRTC finds only by an option of the program. */
#if defined(__CUDACC__) && defined(__cplusplus) && __cplusplus >= 201703L
#if __has_include(<cuda/std/tuple>)
#include "atoll_nvshmem/tiles.h"
#endif
#endif

#endif
