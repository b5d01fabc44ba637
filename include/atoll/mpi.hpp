// Starts a job from the processes of an MPI communicator. Header-only: the program includes <mpi.h> and links
// MPI, Atoll does neither.
//
//   MPI_Init(&argc, &argv);
//   atoll::init(atl::mpi_options(MPI_COMM_WORLD));
//   ...                                   // MPI and Atoll, side by side
//   atoll::finalize();
//   MPI_Finalize();
#pragma once

#include <mpi.h>

#include <string>

#include "atoll/error.hpp"
#include "atoll/job.hpp"

namespace atl {

namespace detail {
inline void check_mpi(int status, const char* call) {
    if (status != MPI_SUCCESS)
        throw Error(ErrorCode::bootstrap, std::string(call) + " failed while PEs find each other by MPI.");
}
}  // namespace detail

/// Options for init or Job: rank r becomes PE r. Init calls MPI collectively over `comm`, which must live
/// until init has returned. A job that aborts ends all of MPI_COMM_WORLD. If MPI's error handler returns,
/// init throws Error(bootstrap).
inline JobOptions mpi_options(MPI_Comm comm) {
    JobOptions options;
    MPI_Comm_rank(comm, &options.pe);
    MPI_Comm_size(comm, &options.n_pes);
    options.callbacks.emplace();
    options.callbacks->allgather = [comm](const void* mine, std::size_t bytes, void* all) {
        detail::check_mpi(MPI_Allgather(const_cast<void*>(mine), static_cast<int>(bytes), MPI_BYTE, all,
                                        static_cast<int>(bytes), MPI_BYTE, comm),
                          "MPI_Allgather");
    };
    options.callbacks->barrier = [comm] { detail::check_mpi(MPI_Barrier(comm), "MPI_Barrier"); };
    options.callbacks->abort = [](int status, const std::string&) {
        int finalized = 1;
        MPI_Finalized(&finalized);
        if (finalized == 0) MPI_Abort(MPI_COMM_WORLD, status);
    };
    return options;
}

}  // namespace atl
