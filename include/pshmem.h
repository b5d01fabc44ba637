/* The profiling interface [10.2 of the specification]: every name a second time, as pshmem_NAME. */
#ifndef ATOLL_PSHMEM_H
#define ATOLL_PSHMEM_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "atoll/shmem/pshmem_prototypes.h"
#ifdef __cplusplus
}
#endif

#endif
