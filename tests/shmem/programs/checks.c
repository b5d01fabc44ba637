/* One wrong call, named by the first argument; with ATOLL_CHECK=all it never returns. */
#include <complex.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD SHMEM_TEAM_WORLD
#define MISALIGNED(T) ((T*)(void*)(bytes + 1))

static long a[64], b[64], locked, work[64], psync[SHMEM_REDUCE_SYNC_SIZE];
static char bytes[256];
static uint64_t sig;
static size_t at[8];
static const long constants[8];
static long *block, *freed; /* 10 elements each */
static shmem_team_t team;
static shmem_ctx_t ctx;
static long local_words[8]; /* copied to the stack, which is not symmetric */

struct wrong {
    const char* name;
    void (*call)(long* local, int me, int n);
};
#define CASE(ID, CALL)                           \
    static void ID(long* local, int me, int n) { \
        (void)local, (void)me, (void)n;          \
        CALL;                                    \
    }

CASE(put_dest, shmem_long_put(local, a, 1, 0))
CASE(put_pe, shmem_long_put(a, b, 1, n))
CASE(put_negative_pe, shmem_long_put(a, b, 1, -1))
CASE(put_size, shmem_long_put(a, b, (size_t)1 << 60, 0))
CASE(put_behind_block, shmem_long_put(block, b, 11, 0))
CASE(p_behind_block, shmem_long_p(block + 10, 1, 0))
CASE(get_freed, shmem_long_get(a, freed, 1, 0))
CASE(atomic_freed, shmem_long_atomic_add(freed, 1, 0))
CASE(test_freed, (void)shmem_long_test(freed, SHMEM_CMP_EQ, 1))
CASE(broadcast_behind_block, shmem_long_broadcast(WORLD, a, block + 6, 5, 0))
CASE(put_overlap, shmem_long_put(a, a + 1, 2, me))
CASE(put_aligned, shmem_long_put(MISALIGNED(long), b, 1, 0))
CASE(put_source_aligned, shmem_long_put(a, MISALIGNED(long), 1, 0))
CASE(put_nbi, shmem_double_put_nbi((double*)local, (double*)a, 1, 0))
CASE(get_source, shmem_long_get(b, local, 1, 0))
CASE(get_overlap, shmem_long_get(a, a + 1, 2, me))
CASE(get_nbi, shmem_short_get_nbi((short*)b, (short*)a, 1, n))
CASE(put_constant, shmem_long_put((long*)(uintptr_t)constants, b, 1, 0))
CASE(ctx_put, shmem_ctx_int_put(ctx, (int*)local, (int*)a, 1, 0))
CASE(ctx_team_pe, shmem_ctx_long_p(ctx, a, 1, n))
CASE(sized_put, shmem_put64(local, a, 1, 0))
CASE(sized_get, shmem_get128(a, b, 1, n))
CASE(putmem, shmem_putmem(local, a, 1, 0))
CASE(getmem_nbi, shmem_getmem_nbi(a, local, 1, 0))
CASE(p, shmem_float_p((float*)local, 1, 0))
CASE(g, (void)shmem_long_g(local, 0))
CASE(g_pe, (void)shmem_long_g(a, n))
CASE(iput, shmem_long_iput(local, a, 1, 1, 1, 0))
CASE(iput_stride, shmem_long_iput(a, b, 0, 1, 2, 0))
CASE(iput_overlap, shmem_long_iput(a, a + 1, 1, 2, 4, me))
CASE(iput_size, shmem_long_iput(a, b, (ptrdiff_t)1 << 40, 1, 3, 0))
CASE(iget, shmem_long_iget(b, local, 1, 1, 1, 0))
CASE(iget_stride, shmem_long_iget(b, a, 1, -1, 2, 0))
CASE(ibput, shmem_long_ibput(local, a, 2, 2, 2, 2, 0))
CASE(ibget, shmem_ibget32(b, local, 2, 2, 2, 2, 0))
CASE(ibget_pe, shmem_long_ibget(b, a, 2, 2, 2, 2, n))
CASE(put_signal, shmem_long_put_signal(local, a, 1, &sig, 1, SHMEM_SIGNAL_SET, 0))
CASE(put_signal_word, shmem_long_put_signal(a, b, 1, (uint64_t*)local, 1, SHMEM_SIGNAL_SET, 0))
CASE(put_signal_op, shmem_putmem_signal(a, b, 1, &sig, 1, 7, 0))
CASE(put_signal_overlap, shmem_long_put_signal_nbi(a, a + 1, 2, &sig, 1, SHMEM_SIGNAL_ADD, me))
CASE(signal_add, shmem_signal_add((uint64_t*)local, 1, 0))
CASE(signal_set, shmem_signal_set(&sig, 1, n))
CASE(signal_aligned, shmem_signal_set(MISALIGNED(uint64_t), 1, 0))
CASE(signal_fetch, (void)shmem_signal_fetch((uint64_t*)local))
CASE(signal_wait, shmem_signal_wait_until((uint64_t*)local, SHMEM_CMP_EQ, 0))
CASE(signal_cmp, shmem_signal_wait_until(&sig, 9, 0))
CASE(amo_fetch, (void)shmem_long_atomic_fetch(local, 0))
CASE(amo_set, shmem_double_atomic_set((double*)local, 1, 0))
CASE(amo_swap, (void)shmem_long_atomic_swap(a, 1, n))
CASE(amo_cswap, (void)shmem_long_atomic_compare_swap(local, 1, 2, 0))
CASE(amo_inc, shmem_long_atomic_inc(MISALIGNED(long), 0))
CASE(amo_add, shmem_int_atomic_add((int*)local, 1, 0))
CASE(amo_fetch_add, (void)shmem_long_atomic_fetch_add(a, 1, -5))
CASE(amo_xor, shmem_ulong_atomic_xor((unsigned long*)local, 1, 0))
CASE(amo_nbi, shmem_long_atomic_fetch_add_nbi(b, local, 1, 0))
CASE(amo_extension, shmemx_double_atomic_add((double*)local, 1, 0))
CASE(wait_until, shmem_long_wait_until(local, SHMEM_CMP_EQ, 0))
CASE(wait_cmp, shmem_long_wait_until(a, 6, 0))
CASE(wait_aligned, shmem_long_wait_until(MISALIGNED(long), SHMEM_CMP_EQ, 0))
CASE(wait_all, shmem_long_wait_until_all(a, (size_t)1 << 60, NULL, SHMEM_CMP_EQ, 0))
CASE(wait_any, shmem_long_wait_until_any(local, 2, NULL, SHMEM_CMP_EQ, 0))
CASE(wait_some, shmem_long_wait_until_some_vector(local, 2, at, NULL, SHMEM_CMP_EQ, b))
CASE(wait_old, shmem_int_wait((int*)local, 7))
CASE(test, (void)shmem_long_test(local, SHMEM_CMP_EQ, 0))
CASE(test_cmp, (void)shmem_long_test_any(a, 2, NULL, -1, 0))
CASE(alltoall, shmem_long_alltoall(WORLD, local, a, 1))
CASE(alltoall_overlap, shmem_long_alltoall(WORLD, a, a + 1, 1))
CASE(alltoalls, shmem_long_alltoalls(WORLD, a, b, 0, 1, 1))
CASE(alltoalls_dest, shmem_alltoallsmem(WORLD, local, a, 1, 1, 1))
CASE(broadcast, shmem_long_broadcast(WORLD, a, b, 1, n))
CASE(broadcast_dest, shmem_broadcastmem(WORLD, local, b, 1, 0))
CASE(collect, shmem_long_collect(WORLD, local, b, 1))
CASE(fcollect, shmem_long_fcollect(WORLD, a, local, 1))
CASE(fcollect_size, shmem_long_fcollect(WORLD, a, b, (size_t)1 << 60))
CASE(reduce, shmem_long_sum_reduce(WORLD, local, b, 1))
CASE(reduce_source, shmem_double_max_reduce(WORLD, (double*)a, (double*)local, 1))
CASE(reduce_overlap, shmem_long_sum_reduce(WORLD, a, a + 1, 2))
CASE(reduce_aligned, shmem_long_min_reduce(WORLD, MISALIGNED(long), b, 1))
CASE(scan, shmem_long_sum_inscan(WORLD, local, b, 1))
CASE(scan_overlap, shmem_long_sum_exscan(WORLD, a, a + 1, 2))
CASE(reduce_scatter, shmemx_long_sum_reduce_scatter(WORLD, local, b, 1))
CASE(differing_size, shmem_long_sum_reduce(WORLD, a, b, (size_t)me + 1))
CASE(differing_root, shmem_long_broadcast(WORLD, a, b, 1, me))
CASE(differing_op, if (me == 0) shmem_long_sum_reduce(WORLD, a, b, 1);
     else shmem_long_max_reduce(WORLD, a, b, 1))
CASE(differing_type, if (me == 0) shmem_long_sum_reduce(WORLD, a, b, 1);
     else shmem_double_sum_reduce(WORLD, (double*)a, (double*)b, 1))
CASE(differing_call, if (me == 0) shmem_long_broadcast(WORLD, a, b, 1, 0);
     else shmem_long_fcollect(WORLD, a, b, 1))
CASE(differing_scan, if (me == 0) shmem_long_sum_inscan(WORLD, a, b, 1);
     else shmem_long_sum_exscan(WORLD, a, b, 1))
CASE(differing_malloc, (void)shmem_malloc(100 + (size_t)me))
CASE(differing_team, shmem_team_split_strided(WORLD, 0, 1, 1 + me, NULL, 0, &team))
CASE(differing_meeting, if (me == 0) shmem_barrier_all(); else shmem_long_fcollect(WORLD, a, b, 1))
CASE(differing_team_sync, if (me == 0) shmem_team_sync(team); else shmem_long_sum_reduce(team, a, b, 1))
CASE(differing_set, if (me == 0) shmem_barrier(0, 0, n, psync);
     else shmem_long_sum_to_all(a, b, 1, 0, 0, n, work, psync))
CASE(invalid_team, shmem_long_sum_reduce(SHMEM_TEAM_INVALID, a, b, 1))
CASE(destroyed_team, shmem_team_destroy(team); shmem_long_sum_reduce(team, a, b, 1))
CASE(destroyed_sync, shmem_team_destroy(team); shmem_team_sync(team))
CASE(destroyed_twice, shmem_team_destroy(team); shmem_team_destroy(team))
CASE(destroyed_ctx, shmem_ctx_destroy(ctx); shmem_ctx_long_p(ctx, a, 1, 0))
CASE(destroyed_ctx_twice, shmem_ctx_destroy(ctx); shmem_ctx_destroy(ctx))
CASE(ctx_of_destroyed, shmem_team_destroy(team); shmem_ctx_quiet(ctx))
CASE(ctx_options, shmem_ctx_create(1L << 20, &ctx))
CASE(destroyed_world, shmem_team_destroy(WORLD))
CASE(invalid_ctx, shmem_ctx_long_p(SHMEM_CTX_INVALID, a, 1, 0))
CASE(to_all, shmem_long_sum_to_all(local, b, 1, 0, 0, n, work, psync))
CASE(to_all_count, shmem_long_sum_to_all(a, b, -1, 0, 0, n, work, psync))
CASE(to_all_overlap, shmem_long_max_to_all(a, a + 1, 2, 0, 0, n, work, psync))
CASE(set_outside, shmem_barrier(0, 0, n + 1, psync))
CASE(set_stride, shmem_sync(0, 40, n, psync))
CASE(set_psync, shmem_barrier(0, 0, n, local))
CASE(set_broadcast, shmem_broadcast64(a, b, 1, n, 0, 0, n, psync))
CASE(set_fcollect, shmem_fcollect32(local, b, 1, 0, 0, n, psync))
CASE(set_collect, shmem_collect64(local, b, 1, 0, 0, n, psync))
CASE(set_alltoall, shmem_alltoall64(a, a, 1, 0, 0, n, psync))
CASE(set_alltoalls, shmem_alltoalls32(a, b, 1, 0, 1, 0, 0, n, psync))
CASE(pe_quiet, shmem_pe_quiet(&n, 1))
CASE(ctx_pe_quiet, shmem_ctx_pe_quiet(ctx, &n, 1))
CASE(set_lock, shmem_set_lock(local))
CASE(lock_twice, shmem_set_lock(&a[me]); shmem_set_lock(&a[me]))
CASE(clear_lock, shmem_clear_lock(&locked))
CASE(test_lock, (void)shmem_test_lock(MISALIGNED(long)))
CASE(free_local, shmem_free(local))
CASE(free_inside, shmem_free((char*)shmem_malloc(64) + 8))
CASE(free_twice, void* block = shmem_malloc(64); shmem_free(block); shmem_free(block))
CASE(realloc_local, (void)shmem_realloc(local, 5))
CASE(align, (void)shmem_align(24, 8))
CASE(null_dest, shmem_long_put(NULL, a, 8, 0))
CASE(null_source, shmem_long_put(a, NULL, 8, 0))
CASE(null_get, shmem_long_get(NULL, a, 8, 0))
CASE(null_word, shmem_long_atomic_inc(NULL, 0))
CASE(null_indices, shmem_long_wait_until_some(a, 2, NULL, NULL, SHMEM_CMP_EQ, 0))
CASE(null_values, (void)shmem_long_test_all_vector(a, 2, NULL, SHMEM_CMP_EQ, NULL))
CASE(null_collective, shmem_long_sum_reduce(WORLD, a, NULL, 1))
CASE(null_broadcast, shmem_long_broadcast(WORLD, NULL, b, 1, 0))
CASE(null_broadcast_source, shmem_long_broadcast(WORLD, a, NULL, 1, 0))
CASE(null_to_all, shmem_int_sum_to_all((int*)a, NULL, 1, 0, 0, n, (int*)work, psync))
CASE(null_to_all_large, shmem_long_max_to_all(NULL, a, 64, 0, 0, n, work, psync))
CASE(null_set_broadcast, shmem_broadcast64(a, NULL, 1, 0, 0, 0, n, psync))
CASE(null_set_target, shmem_broadcast64(NULL, b, 1, 0, 0, 0, n, psync))
CASE(null_set_fcollect, shmem_fcollect64(NULL, b, 1, 0, 0, n, psync))
CASE(null_set_collect, shmem_collect32(a, NULL, 1, 0, 0, n, psync))
CASE(null_set_alltoall, shmem_alltoall32(a, NULL, 1, 0, 0, n, psync))
CASE(null_set_alltoalls, shmem_alltoalls64(NULL, b, 1, 1, 1, 0, 0, n, psync))
CASE(null_split, shmem_team_split_strided(WORLD, 0, 1, n, NULL, 0, NULL))
CASE(null_split_2d, shmem_team_split_2d(WORLD, 1, NULL, 0, &team, NULL, 0, NULL))
CASE(null_ctx, shmem_ctx_create(0, NULL))
CASE(null_ctx_team, shmem_ctx_get_team(ctx, NULL))
CASE(null_name, shmem_info_get_name(NULL))
CASE(null_version, shmem_info_get_version(&me, NULL))
CASE(null_pes, shmem_pe_quiet(NULL, 1))
CASE(strange_team, shmem_long_sum_reduce((shmem_team_t)0x1238, a, b, 1))
CASE(strange_team_destroy, shmem_team_destroy((shmem_team_t)(void*)local))
CASE(strange_ctx, shmem_ctx_long_p((shmem_ctx_t)0x1238, a, 1, 0))
CASE(strange_ctx_quiet, shmem_ctx_quiet((shmem_ctx_t)(void*)local))
CASE(strange_ctx_destroy, shmem_ctx_destroy((shmem_ctx_t)((char*)ctx + 1)))
CASE(strange_session, shmem_ctx_session_stop((shmem_ctx_t)0x1238))
CASE(default_ctx, shmem_ctx_destroy(SHMEM_CTX_DEFAULT))
CASE(hints, (void)shmem_malloc_with_hints(64, -1))
CASE(alltoalls_huge, shmem_long_alltoalls(WORLD, a, b, PTRDIFF_MAX / 4, 1, 1))
CASE(finalize_twice, shmem_finalize(); shmem_finalize())
CASE(after_finalize, shmem_finalize(); shmem_long_p(a, 1, 0))

#define ROW(ID) \
    { #ID, ID }
static const struct wrong wrongs[] = {
    ROW(put_dest),
    ROW(put_pe),
    ROW(put_negative_pe),
    ROW(put_size),
    ROW(put_behind_block),
    ROW(p_behind_block),
    ROW(get_freed),
    ROW(atomic_freed),
    ROW(test_freed),
    ROW(broadcast_behind_block),
    ROW(put_overlap),
    ROW(put_aligned),
    ROW(put_source_aligned),
    ROW(put_nbi),
    ROW(get_source),
    ROW(get_overlap),
    ROW(get_nbi),
    ROW(put_constant),
    ROW(ctx_put),
    ROW(ctx_team_pe),
    ROW(sized_put),
    ROW(sized_get),
    ROW(putmem),
    ROW(getmem_nbi),
    ROW(p),
    ROW(g),
    ROW(g_pe),
    ROW(iput),
    ROW(iput_stride),
    ROW(iput_overlap),
    ROW(iput_size),
    ROW(iget),
    ROW(iget_stride),
    ROW(ibput),
    ROW(ibget),
    ROW(ibget_pe),
    ROW(put_signal),
    ROW(put_signal_word),
    ROW(put_signal_op),
    ROW(put_signal_overlap),
    ROW(signal_add),
    ROW(signal_set),
    ROW(signal_aligned),
    ROW(signal_fetch),
    ROW(signal_wait),
    ROW(signal_cmp),
    ROW(amo_fetch),
    ROW(amo_set),
    ROW(amo_swap),
    ROW(amo_cswap),
    ROW(amo_inc),
    ROW(amo_add),
    ROW(amo_fetch_add),
    ROW(amo_xor),
    ROW(amo_nbi),
    ROW(amo_extension),
    ROW(wait_until),
    ROW(wait_cmp),
    ROW(wait_aligned),
    ROW(wait_all),
    ROW(wait_any),
    ROW(wait_some),
    ROW(wait_old),
    ROW(test),
    ROW(test_cmp),
    ROW(alltoall),
    ROW(alltoall_overlap),
    ROW(alltoalls),
    ROW(alltoalls_dest),
    ROW(broadcast),
    ROW(broadcast_dest),
    ROW(collect),
    ROW(fcollect),
    ROW(fcollect_size),
    ROW(reduce),
    ROW(reduce_source),
    ROW(reduce_overlap),
    ROW(reduce_aligned),
    ROW(scan),
    ROW(scan_overlap),
    ROW(reduce_scatter),
    ROW(differing_size),
    ROW(differing_root),
    ROW(differing_op),
    ROW(differing_type),
    ROW(differing_call),
    ROW(differing_scan),
    ROW(differing_malloc),
    ROW(differing_team),
    ROW(differing_meeting),
    ROW(differing_team_sync),
    ROW(differing_set),
    ROW(invalid_team),
    ROW(destroyed_team),
    ROW(destroyed_sync),
    ROW(destroyed_twice),
    ROW(destroyed_ctx),
    ROW(destroyed_ctx_twice),
    ROW(ctx_of_destroyed),
    ROW(ctx_options),
    ROW(destroyed_world),
    ROW(invalid_ctx),
    ROW(to_all),
    ROW(to_all_count),
    ROW(to_all_overlap),
    ROW(set_outside),
    ROW(set_stride),
    ROW(set_psync),
    ROW(set_broadcast),
    ROW(set_fcollect),
    ROW(set_collect),
    ROW(set_alltoall),
    ROW(set_alltoalls),
    ROW(pe_quiet),
    ROW(ctx_pe_quiet),
    ROW(set_lock),
    ROW(lock_twice),
    ROW(clear_lock),
    ROW(test_lock),
    ROW(free_local),
    ROW(free_inside),
    ROW(free_twice),
    ROW(realloc_local),
    ROW(align),
    ROW(null_dest),
    ROW(null_source),
    ROW(null_get),
    ROW(null_word),
    ROW(null_indices),
    ROW(null_values),
    ROW(null_collective),
    ROW(null_broadcast),
    ROW(null_broadcast_source),
    ROW(null_to_all),
    ROW(null_to_all_large),
    ROW(null_set_broadcast),
    ROW(null_set_target),
    ROW(null_set_fcollect),
    ROW(null_set_collect),
    ROW(null_set_alltoall),
    ROW(null_set_alltoalls),
    ROW(null_split),
    ROW(null_split_2d),
    ROW(null_ctx),
    ROW(null_ctx_team),
    ROW(null_name),
    ROW(null_version),
    ROW(null_pes),
    ROW(strange_team),
    ROW(strange_team_destroy),
    ROW(strange_ctx),
    ROW(strange_ctx_quiet),
    ROW(strange_ctx_destroy),
    ROW(strange_session),
    ROW(default_ctx),
    ROW(hints),
    ROW(alltoalls_huge),
    ROW(finalize_twice),
    ROW(after_finalize),
};

int main(int argc, char** argv) {
    long local[8];
    const shmem_team_config_t config = {1};
    shmem_init();
    memcpy(local, local_words, sizeof local);
    shmem_team_split_strided(WORLD, 0, 1, shmem_n_pes(), &config, SHMEM_TEAM_NUM_CONTEXTS, &team);
    shmem_team_create_ctx(team, 0, &ctx);
    block = shmem_malloc(10 * sizeof *block);
    freed = shmem_malloc(10 * sizeof *freed);
    shmem_long_put(block, freed, 10, 0);
    shmem_free(freed);
    /* Correct calls that look wrong: interleaved elements, constants as source, empty transfers. */
    shmem_long_iput(a, a + 1, 2, 2, 8, shmem_my_pe());
    shmem_long_put(a, constants, 8, 0);
    shmem_long_put(NULL, NULL, 0, 0);
    shmem_long_sum_reduce(WORLD, a, a, 8);
    shmem_long_broadcast(WORLD, a, a, 8, 0);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; ++i)
        if (argc > 1 && strcmp(wrongs[i].name, argv[1]) == 0) {
            wrongs[i].call(local, shmem_my_pe(), shmem_n_pes());
            printf("%s came back\n", argv[1]);
            shmem_global_exit(99);
        }
    if (argc < 2)
        for (size_t i = 0; shmem_my_pe() == 0 && i < sizeof wrongs / sizeof wrongs[0]; ++i)
            printf("%s\n", wrongs[i].name);
    shmem_finalize();
    return argc < 2 ? 0 : 98;
}
