/* A bucket sort like in benchmarks: histograms by fetch_add, keys by put to offsets, checked by a reduction.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 2000
#define ROOM (KEYS * 64)

long long int receive_offset = 0;
static long long total, received;
static long long llWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long pSync[SHMEM_REDUCE_SYNC_SIZE];
int bucket[ROOM];

int main(int argc, char** argv) {
    (void)argc;
    (void)argv;
    for (uint64_t i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) pSync[i] = SHMEM_SYNC_VALUE;
    shmem_init();
    const int me = shmem_my_pe();
    const int npes = shmem_n_pes();
    unsigned state = 17u * (unsigned)me + 1u;
    int* keys = malloc(sizeof(int) * KEYS);
    int* sizes = calloc((size_t)npes, sizeof(int));
    int* sorted = malloc(sizeof(int) * KEYS);
    int* starts = calloc((size_t)npes + 1, sizeof(int));
    const int width = 32768 / npes + 1;
    for (int i = 0; i < KEYS; ++i) {
        state = state * 1103515245u + 12345u;
        keys[i] = (int)(state >> 16) & 32767;
        sizes[keys[i] / width]++;
    }
    for (int b = 0; b < npes; ++b) starts[b + 1] = starts[b] + sizes[b];
    for (int b = 0; b < npes; ++b) sizes[b] = starts[b];
    for (int i = 0; i < KEYS; ++i) sorted[sizes[keys[i] / width]++] = keys[i];
    shmem_barrier_all();
    for (int i = 0; i < npes; ++i) {
        const int target = (me + i) % npes, count = starts[target + 1] - starts[target];
        const long long at = shmem_longlong_atomic_fetch_add(&receive_offset, (long long)count, target);
        shmem_int_put(&bucket[at], &sorted[starts[target]], (size_t)count, target);
    }
    shmem_barrier_all();
    for (long long i = 0; i < receive_offset; ++i)
        if (bucket[i] / width != me) shmem_global_exit(1);
    received = receive_offset;
    shmem_longlong_sum_to_all(&total, &received, 1, 0, 0, npes, llWrk, pSync);

    if (total != (long long)KEYS * npes || pSync[0] != SHMEM_SYNC_VALUE) shmem_global_exit(2);
    free(keys);
    free(sizes);
    free(sorted);
    free(starts);
    shmem_finalize();
    return 0;
}
