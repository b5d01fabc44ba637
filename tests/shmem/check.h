/* What the programs of this folder share: they end the job at the first thing that is wrong, and exit 0 when
 * all is right. */
#ifndef ATOLL_TESTS_SHMEM_CHECK_H
#define ATOLL_TESTS_SHMEM_CHECK_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                 \
    do {                                                                                                 \
        if (!(condition)) {                                                                              \
            fprintf(stderr, "%s:%d: PE %d: wrong: %s\n", __FILE__, __LINE__, shmem_my_pe(), #condition); \
            shmem_global_exit(1);                                                                        \
        }                                                                                                \
    } while (0)

#endif
