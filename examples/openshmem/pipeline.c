/* Two contexts: the large transfer of one does not delay the completion of the other. */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 18 };

static int progress;

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    shmem_ctx_t bulk, control;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &bulk) != 0 || shmem_ctx_create(0, &control) != 0)
        shmem_global_exit(1);
    float* target = shmem_malloc(COUNT * sizeof *target);
    float* source = malloc(COUNT * sizeof *source);
    for (int i = 0; i < COUNT; ++i) source[i] = (float)me;
    shmem_put_nbi(bulk, target, source, COUNT, next);
    shmem_p(control, &progress, 1, next);
    shmem_ctx_quiet(control);
    shmem_wait_until(&progress, SHMEM_CMP_EQ, 1); /* says nothing of the bulk */
    shmem_ctx_quiet(bulk);
    shmem_barrier_all();
    const float expected = (float)((me + shmem_n_pes() - 1) % shmem_n_pes());
    const int wrong = target[0] != expected || target[COUNT - 1] != expected;
    if (me == 0) printf("%d numbers from each to the next\n", COUNT);
    shmem_ctx_destroy(bulk);
    shmem_ctx_destroy(control);
    shmem_free(target);
    free(source);
    shmem_finalize();
    return wrong;
}
