/* Launches of kernels whose blocks wait for one another or for other PEs, by the program's CUDA runtime. Also
 * the functions by which modules and launches reach the library. Included within extern "C". */
#ifndef ATOLL_NVSHMEM_LAUNCH_H
#define ATOLL_NVSHMEM_LAUNCH_H

#if defined(__cplusplus)
namespace atl {
namespace nvshmem_kernel {
struct Module;
}
}  // namespace atl
/* Adds a module to those whose state the library fills; the module stays the caller's. */
void atoll_nvshmem_add_module(atl::nvshmem_kernel::Module* module);
void atoll_nvshmem_remove_module(atl::nvshmem_kernel::Module* module);
#endif

/* Fills the state of all modules that lack it. Collective over all PEs. Ends the job before nvshmem_init. */
void atoll_nvshmem_prepare_launch(void);
/* The part of `blocks` that this PE's kernels may use if several PEs run on the GPU. */
int atoll_nvshmem_resident_share(int gpu, int blocks);

#if defined(ATOLL_NVSHMEM_CUDA)
typedef struct nvshmemx_collective_launch_attr {
    cudaLaunchConfig_t cuda_config;
} nvshmemx_collective_launch_attr_t;

/* Finds the most blocks that may run at once. Returns 0, or nonzero if CUDA refuses. */
static inline int nvshmemx_collective_launch_query_gridsize(const void* func, dim3 blockDims, void** args,
                                                            size_t sharedMem, int* gridsize) {
    int gpu = 0, multiprocessors = 0, each = 0;
    const int threads = (int)(blockDims.x * blockDims.y * blockDims.z);
    (void)args;
    atoll_nvshmem_prepare_launch();
    if (cudaGetDevice(&gpu) != cudaSuccess ||
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu) != cudaSuccess ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&each, func, threads, sharedMem, 0) !=
            cudaSuccess)
        return NVSHMEMX_ERROR_INTERNAL;
    *gridsize = atoll_nvshmem_resident_share(gpu, each * multiprocessors);
    return 0;
}

/* Launches on all PEs a kernel whose blocks all run at once. Collective. A grid of no blocks takes the most
 * that fit. Returns 0, or nonzero if the grid does not fit or CUDA refuses: nothing is launched then. */
static inline int nvshmemx_collective_launch_attr(const nvshmemx_collective_launch_attr_t* attr,
                                                  const void* func, void** args) {
    cudaLaunchConfig_t config = attr->cuda_config;
    cudaLaunchAttribute attributes[17];
    unsigned i, count = 0;
    int most = 0, asked = 0;
    size_t blocks = (size_t)config.gridDim.x * config.gridDim.y * config.gridDim.z;
    if (nvshmemx_collective_launch_query_gridsize(func, config.blockDim, args, config.dynamicSmemBytes,
                                                  &most) != 0)
        return NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
    if (blocks == 0) {
        config.gridDim.x = (unsigned)most;
        config.gridDim.y = config.gridDim.z = 1;
        blocks = (size_t)most;
    }
    if (blocks == 0 || blocks > (size_t)most || config.numAttrs > 16) {
        fprintf(stderr,
                "atoll: nvshmemx_collective_launch: %zu blocks cannot run at once; this PE may run %d. Ask "
                "nvshmemx_collective_launch_query_gridsize.\n",
                blocks, most);
        return NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
    }
    for (i = 0; i < config.numAttrs; ++i) {
        attributes[count++] = config.attrs[i];
        asked |= config.attrs[i].id == cudaLaunchAttributeCooperative;
    }
    if (!asked) {
        attributes[count].id = cudaLaunchAttributeCooperative;
        attributes[count++].val.cooperative = 1;
    }
    config.attrs = attributes;
    config.numAttrs = count;
    return cudaLaunchKernelExC(&config, func, args) == cudaSuccess ? 0
                                                                   : NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED;
}

static inline int nvshmemx_collective_launch(const void* func, dim3 gridDims, dim3 blockDims, void** args,
                                             size_t sharedMem, cudaStream_t stream) {
    nvshmemx_collective_launch_attr_t attr;
    memset((void*)&attr, 0, sizeof attr); /* C has no initializer that C++ takes without a warning */
    attr.cuda_config.gridDim = gridDims;
    attr.cuda_config.blockDim = blockDims;
    attr.cuda_config.dynamicSmemBytes = sharedMem;
    attr.cuda_config.stream = stream;
    return nvshmemx_collective_launch_attr(&attr, func, args);
}
#endif

#endif
