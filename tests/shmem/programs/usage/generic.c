/* C11's generics in typical use: const sources, arrays, expressions, either form of every call. */
#include <shmem.h>
#include <string.h>

static const long constants[4] = {1, 2, 3, 4};
static long words[4], flag_words[2];
static double table[2][4];
static int counter;
static uint64_t signals[2];
static unsigned char bytes[16];

static void copy(long* dest, const long* source, size_t n, int pe) { shmem_put(dest, source, n, pe); }

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    copy(words, constants, 4, next);
    shmem_put(SHMEM_CTX_DEFAULT, table[1], table[0], sizeof table[0] / sizeof table[0][0], next);
    shmem_put_nbi(bytes, (const unsigned char*)"0123456", 8, next);
    shmem_quiet();
    shmem_barrier_all();
    int wrong = memcmp(words, constants, sizeof words) != 0 || strcmp((char*)bytes, "0123456") != 0;
    shmem_p(&words[me % 4], 7L, me);
    wrong += shmem_g(&words[me % 4], me) != 7;
    shmem_atomic_inc(&counter, 0);
    shmem_atomic_add(SHMEM_CTX_DEFAULT, &counter, 2, 0);
    shmem_put_signal(words, constants, 1, &signals[0], 5, SHMEM_SIGNAL_SET, next);
    shmem_signal_wait_until(signals, SHMEM_CMP_EQ, 5);
    shmem_barrier_all();
    wrong += shmem_atomic_fetch(&counter, 0) != 3 * n;
    wrong += shmem_broadcast(team, words, constants + 1, 2, 0) != 0 || words[1] != 3;
    wrong += shmem_fcollect(team, &table[0][0], &table[1][0], 0) != 0;
    shmem_atomic_set(&flag_words[1], -1L, next);
    shmem_wait_until(&flag_words[1], SHMEM_CMP_LT, 0);
    wrong += shmem_test(flag_words, SHMEM_CMP_EQ, 0) != 1;
    wrong += shmem_wait_until_any(flag_words, 2, NULL, SHMEM_CMP_NE, 0) != 1;
    wrong += shmem_sync(team) != 0;
    if (wrong) shmem_global_exit(wrong);
    shmem_finalize();
    return 0;
}
