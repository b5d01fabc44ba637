/* Halo exchange of a stencil: columns by strided puts, flags by put_signal, teams for the rows, a private
 * context. */
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#define W 16
#define H 8

static double grid[H][W + 2], received[2][H];
static uint64_t flags[2];
static double norm, all_norms;

int main(void) {
    int provided;
    char name[SHMEM_MAX_NAME_LEN];
    shmem_ctx_t ctx;
    if (shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided) != 0 || provided < SHMEM_THREAD_FUNNELED) abort();
    shmem_info_get_name(name);
    if (strlen(name) >= SHMEM_MAX_NAME_LEN) return 3;
    const int me = shmem_my_pe(), n = shmem_n_pes(), right = (me + 1) % n, left = (me + n - 1) % n;
    if (shmem_ctx_create(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED, &ctx) != 0) ctx = SHMEM_CTX_DEFAULT;
    for (int i = 0; i < H; ++i)
        for (int j = 1; j <= W; ++j) grid[i][j] = me * 100 + i;
    shmem_sync_all();
    for (uint64_t step = 1; step <= 10; ++step) {
        double edge[H];
        for (int i = 0; i < H; ++i) edge[i] = grid[i][W];
        shmem_ctx_double_iput(ctx, &grid[0][0], edge, W + 2, 1, H, right);
        shmem_ctx_fence(ctx);
        shmem_ctx_double_put_signal(ctx, received[0], edge, H, &flags[0], step, SHMEM_SIGNAL_SET, right);
        for (int i = 0; i < H; ++i) edge[i] = grid[i][1];
        shmem_ctx_double_put_signal_nbi(ctx, received[1], edge, H, &flags[1], 1, SHMEM_SIGNAL_ADD, left);
        shmem_ctx_quiet(ctx);
        shmem_signal_wait_until(&flags[0], SHMEM_CMP_EQ, step);
        while (shmem_signal_fetch(&flags[1]) < step) {
        }
        for (int i = 0; i < H; ++i)
            if (received[0][i] != left * 100 + i || received[1][i] != right * 100 + i ||
                grid[i][0] != received[0][i])
                shmem_global_exit(1);
        shmem_barrier_all();
    }
    norm = 1.0;
    if (shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &all_norms, &norm, 1) != 0 || all_norms != n)
        shmem_global_exit(2);
    if (ctx != SHMEM_CTX_DEFAULT) shmem_ctx_destroy(ctx);
    shmem_finalize();
    return 0;
}
