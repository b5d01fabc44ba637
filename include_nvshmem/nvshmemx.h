/* NVSHMEM's extensions on Atoll: see nvshmem_host.h. */
#ifndef ATOLL_NVSHMEMX_H
#define ATOLL_NVSHMEMX_H

#include "nvshmem.h"

#endif
