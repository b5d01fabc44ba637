// MPI and Atoll in one job, by atoll/mpi.hpp. Atoll itself is compiled without this header.
//   beside_mpi [abort]   with `abort`, PE 1 ends the job with status 6 while the others wait
#include <atoll/atoll.hpp>
#include <atoll/mpi.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

/// MPI_ERRORS_RETURN makes MPI return errors instead of ending the program; Atoll throws them.
static bool says_what_fails() {
    MPI_Comm alone = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &alone);
    MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    const atl::JobOptions options = atl::mpi_options(alone);
    bool said = false;
    try {
        char byte = 0;
        options.callbacks->allgather(&byte, std::size_t{3} << 30, &byte);  // a count below 0 to MPI
    } catch (const atl::Error& error) {
        said = error.code() == atl::ErrorCode::bootstrap && std::strstr(error.what(), "MPI_Allgather");
    }
    MPI_Comm_free(&alone);
    return said;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = -1, size = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    // PEs are numbered in reverse, by a communicator that is freed once init has returned.
    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    atl::Job& job = atoll::init(atl::mpi_options(backwards));
    MPI_Comm_free(&backwards);
    const int me = job.my_pe(), n = job.n_pes();
    bool right = me == size - 1 - rank && n == size;
    auto* words = static_cast<long*>(job.calloc(100, sizeof(long)));
    if (argc > 1 && std::strcmp(argv[1], "abort") == 0) {
        if (me == 1) job.global_exit(6);
        job.context().wait_until(words, atl::Compare::eq, 1L);
    }
    for (long turn = 1; turn <= 20; ++turn) {
        const std::vector<long> mine(100, me + 10 * turn);
        job.context().put(words, mine.data(), mine.size(), (me + 1) % n);
        job.world().barrier();
        long sum = 0;
        MPI_Allreduce(words, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        right = right && words[99] == (me + n - 1) % n + 10 * turn && sum == n * (n - 1L) / 2 + 10 * turn * n;
        job.world().barrier();
    }
    atoll::finalize();
    int mine = right && says_what_fails() ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::printf("%s: %d PEs\n", all ? "right" : "WRONG", n);
    MPI_Finalize();
    return all ? 0 : 1;
}
