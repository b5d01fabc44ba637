/* Shared by the programs of this folder: they end the job at the first error; without errors they exit 0. */

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
