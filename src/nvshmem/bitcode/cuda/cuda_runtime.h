/* In place of CUDA's header of this name while bitcode is compiled: the type in nvshmem.h. */
#pragma once

typedef struct CUstream_st* cudaStream_t;
