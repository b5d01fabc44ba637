/* Starts OpenSHMEM in the processes of an MPI communicator. Header-only: the program includes it and links
 * MPI, Atoll does neither. C++ programs of Atoll's own API have atoll/mpi.hpp.
 *
 *   MPI_Init(&argc, &argv);
 *   if (shmemx_init_mpi(MPI_COMM_WORLD) != 0) ...     shmemx_last_error() says why
 *   ...                                               MPI and OpenSHMEM, side by side
 *   shmem_finalize();
 *   MPI_Finalize();
 */
#ifndef ATOLL_SHMEMX_MPI_H
#define ATOLL_SHMEMX_MPI_H

#include <mpi.h>

#include "shmemx.h"

static inline int shmemx_mpi_allgather(const void* mine, size_t bytes, void* all, void* comm) {
    return MPI_Allgather((void*)mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm*)comm);
}

static inline int shmemx_mpi_barrier(void* comm) { return MPI_Barrier(*(MPI_Comm*)comm); }

static inline void shmemx_mpi_abort(int status, const char* sentence, void* comm) {
    int finalized = 1;
    (void)sentence;
    (void)comm; /* gone by now */
    MPI_Finalized(&finalized);
    if (!finalized) MPI_Abort(MPI_COMM_WORLD, status);
}

/* shmemx_init_callbacks through MPI: rank r of comm becomes PE r. Collective over comm, which is used until
 * this returns. A program that aborts ends all of MPI_COMM_WORLD. */

static inline int shmemx_init_mpi(MPI_Comm comm) {
    int rank = -1, size = -1;
    shmemx_callbacks_t callbacks;
    callbacks.allgather = shmemx_mpi_allgather;
    callbacks.barrier = shmemx_mpi_barrier;
    callbacks.abort = shmemx_mpi_abort;
    callbacks.user = &comm;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    return shmemx_init_callbacks(rank, size, &callbacks);
}

#endif
