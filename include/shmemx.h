/* Extensions: features of Atoll's C++ API that the specification lacks. Names begin with shmemx_. */
#ifndef ATOLL_SHMEMX_H
#define ATOLL_SHMEMX_H

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Predefined teams beside SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED: the PEs of this host, and the PEs with this
 * PE's rank on their own hosts. */
#define SHMEMX_TEAM_HOST ((shmem_team_t)3)
#define SHMEMX_TEAM_NODE SHMEMX_TEAM_HOST
#define SHMEMX_TEAM_RAIL ((shmem_team_t)4)

/* Functions of the program that already connect its processes, such as MPI's (shmemx_mpi.h has those). Each
 * gets `user`. Only shmemx_init_callbacks calls allgather and barrier, on all PEs in the same order. They
 * return 0, or a status with which the start fails. */
typedef struct {
    /* Gathers `bytes` bytes from every PE into `all`, in PE order. */
    int (*allgather)(const void* mine, size_t bytes, void* all, void* user);
    int (*barrier)(void* user); /* may be NULL */
    /* For shmem_global_exit and errors that end a job: ends PEs that do not respond, after all PEs have been
     * notified. Called by any thread until shmem_finalize. May be NULL. */
    void (*abort)(int status, const char* sentence, void* user);
    void* user;
} shmemx_callbacks_t;

/* shmem_init for n_pes processes, of which this is my_pe. Collective over them, on one or several hosts.
 * Returns 0, or nonzero if the job could not be made: shmemx_last_error has the reason. */
int shmemx_init_callbacks(int my_pe, int n_pes, const shmemx_callbacks_t* callbacks);

/* Atomic addition to float and double (the specification has fetch, set and swap of them). */
void shmemx_float_atomic_add(float* dest, float value, int pe);
void shmemx_double_atomic_add(double* dest, double value, int pe);
float shmemx_float_atomic_fetch_add(float* dest, float value, int pe);
double shmemx_double_atomic_fetch_add(double* dest, double value, int pe);

/* dest = block my_pe of the element-wise sum; source holds one block of nreduce elements for each member. */
int shmemx_int_sum_reduce_scatter(shmem_team_t team, int* dest, const int* source, size_t nreduce);
int shmemx_long_sum_reduce_scatter(shmem_team_t team, long* dest, const long* source, size_t nreduce);
int shmemx_float_sum_reduce_scatter(shmem_team_t team, float* dest, const float* source, size_t nreduce);
int shmemx_double_sum_reduce_scatter(shmem_team_t team, double* dest, const double* source, size_t nreduce);

/* PEs of equal color form a team, ordered by key, then by PE; a negative color joins none
 * (SHMEM_TEAM_INVALID). Collective over parent. Returns 0, or nonzero on every PE. */
int shmemx_team_split(shmem_team_t parent, int color, int key, shmem_team_t* team);

/* An id for one team without a parent, which the program sends to the team's members. Never 0. Local. Returns
 * 0, or nonzero if no memory is left. */
int shmemx_team_get_unique_id(uint64_t* unique_id);
/* The team of the npes PEs that pass the same id; this PE becomes its PE my_pe. Collective over these PEs;
 * other PEs take no part. Returns 0, or nonzero on every PE if two PEs pass the same my_pe, npes differs, or
 * the id was used. */
int shmemx_team_init(uint64_t unique_id, int npes, int my_pe, shmem_team_t* team);

/* The sentence of the last error in a call of this thread; "" if there was no error. */
const char* shmemx_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
