/* Reads another PE's memory: by plain loads if shmem_ptr allows them, else by get. A session hints at many
 * puts. */
#include <shmem.h>
#include <stdio.h>

enum { COUNT = 1000 };

static int numbers[COUNT];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_ctx_t ctx;
    const shmem_ctx_session_config_t session = {COUNT};
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0) shmem_global_exit(1);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &session, SHMEM_CTX_SESSION_TOTAL_OPS);
    for (int i = 0; i < COUNT; ++i) shmem_p(ctx, &numbers[i], me + i, next);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_quiet(ctx); /* barrier_all would not complete this context's */
    shmem_barrier_all();
    const int* there = shmem_ptr(numbers, next);
    long sum = 0;
    for (int i = 0; i < COUNT; ++i) sum += there ? there[i] : shmem_g(&numbers[i], next);
    if (me == 0) printf("PE %d holds %ld, read by %s\n", next, sum, there ? "loads" : "gets");
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return sum != (long)COUNT * me + (long)COUNT * (COUNT - 1) / 2;
}
