// A job of the processes of an MPI communicator. Header-only: the program includes <mpi.h> and links MPI,
// Atoll does neither.
//
//   MPI_Init(&argc, &argv);
//   atoll::init(atl::mpi_options(MPI_COMM_WORLD));
//   ...                                   // MPI and Atoll, side by side
//   atoll::finalize();
//   MPI_Finalize();
#pragma once

#include <mpi.h>

#include "atoll/job.hpp"

namespace atl {

/// For init or Job: rank r becomes PE r. Collective over `comm` when used; `comm` must live until init has
/// returned, and is used later only to abort. Its errors are reported as MPI's error handler says.
inline JobOptions mpi_options(MPI_Comm comm) {
    JobOptions options;
    MPI_Comm_rank(comm, &options.pe);
    MPI_Comm_size(comm, &options.n_pes);
    options.callbacks.emplace();
    options.callbacks->allgather = [comm](const void* mine, std::size_t bytes, void* all) {
        MPI_Allgather(const_cast<void*>(mine), static_cast<int>(bytes), MPI_BYTE, all,
                      static_cast<int>(bytes), MPI_BYTE, comm);
    };
    options.callbacks->barrier = [comm] { MPI_Barrier(comm); };
    options.callbacks->abort = [](int status, const std::string&) {
        int finalized = 1;
        MPI_Finalized(&finalized);
        if (finalized == 0) MPI_Abort(MPI_COMM_WORLD, status);
    };
    return options;
}

}  // namespace atl
