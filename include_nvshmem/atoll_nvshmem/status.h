/* The names of statuses as texts. */
#ifndef ATOLL_NVSHMEM_STATUS_H
#define ATOLL_NVSHMEM_STATUS_H

#include "atoll_nvshmem/types.h"

/* Returns the name of a status, or a text without a name for another number. */
static inline const char* nvshmemx_status_string(int status) {
    switch (status) {
        case NVSHMEMX_SUCCESS:
            return "NVSHMEMX_SUCCESS";
        case NVSHMEMX_ERROR_INVALID_VALUE:
            return "NVSHMEMX_ERROR_INVALID_VALUE";
        case NVSHMEMX_ERROR_OUT_OF_MEMORY:
            return "NVSHMEMX_ERROR_OUT_OF_MEMORY";
        case NVSHMEMX_ERROR_NOT_SUPPORTED:
            return "NVSHMEMX_ERROR_NOT_SUPPORTED";
        case NVSHMEMX_ERROR_SYMMETRY:
            return "NVSHMEMX_ERROR_SYMMETRY";
        case NVSHMEMX_ERROR_GPU_NOT_SELECTED:
            return "NVSHMEMX_ERROR_GPU_NOT_SELECTED";
        case NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED:
            return "NVSHMEMX_ERROR_COLLECTIVE_LAUNCH_FAILED";
        case NVSHMEMX_ERROR_INTERNAL:
            return "NVSHMEMX_ERROR_INTERNAL";
        default:
            return "NVSHMEMX_ERROR_<unknown>";
    }
}

#endif
