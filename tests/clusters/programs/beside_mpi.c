/* MPI and OpenSHMEM in one job by shmemx_mpi.h. */
#include <shmemx_mpi.h>
#include <stdio.h>

static long word;

int main(int argc, char** argv) {
    int rank = -1, all = 0, right;
    long sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (shmemx_init_mpi(MPI_COMM_WORLD) != 0) {
        fprintf(stderr, "%s\n", shmemx_last_error());
        return 2;
    }
    const int me = shmem_my_pe(), n = shmem_n_pes();
    right = me == rank;
    for (int turn = 0; turn < 20; ++turn) {
        shmem_long_atomic_add(&word, me + 1, (me + 1) % n);
        shmem_barrier_all();
        MPI_Allreduce(&word, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        right = right && sum == (turn + 1) * n * (n + 1L) / 2 && word == (turn + 1) * ((me + n - 1) % n + 1L);
        shmem_barrier_all();
    }
    right = right && shmemx_init_mpi(MPI_COMM_WORLD) != 0; /* a job exists already */
    shmem_finalize();
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d PEs\n", all ? "right" : "WRONG", n);
    MPI_Finalize();
    return all ? 0 : 1;
}
