/* NVSHMEM's names on Atoll: see nvshmem_host.h. */
#ifndef ATOLL_NVSHMEM_H
#define ATOLL_NVSHMEM_H

#include "nvshmem_host.h"

#endif
