/* The style of verification suites: one check a routine, constants in switches and arrays, handles in tables.
 */
#include <mpp/shmemx.h>
#include <shmem.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const int compares[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                               SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
static struct {
    shmem_ctx_t ctx;
    shmem_team_t team;
} table[2] = {{SHMEM_CTX_DEFAULT, SHMEM_TEAM_WORLD}, {SHMEM_CTX_INVALID, SHMEM_TEAM_INVALID}};
static char vendor[] = "vendor " SHMEM_VENDOR_STRING;
static size_t indices[8];
static uint64_t array[8];
static int status[8];
static long double wide, wide_target;
static float _Complex terms[2], sums[2];

static const char* name_of(int cmp) {
    switch (cmp) {
        case SHMEM_CMP_EQ:
            return "==";
        case SHMEM_CMP_NE:
            return "!=";
        case SHMEM_CMP_GT:
            return ">";
        case SHMEM_CMP_GE:
            return ">=";
        case SHMEM_CMP_LT:
            return "<";
        case SHMEM_CMP_LE:
            return "<=";
        default:
            return NULL;
    }
}

#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION < 4 || _SHMEM_MAJOR_VERSION != SHMEM_MAJOR_VERSION
#error "versions are for the preprocessor"
#endif
#if SHMEM_SIGNAL_SET == SHMEM_SIGNAL_ADD || SHMEM_THREAD_SINGLE >= SHMEM_THREAD_MULTIPLE
#error "so are these"
#endif

int main(void) {
    int wrong = 0, major, minor, before = -1;
    shmem_query_initialized(&before);
    shmem_init();
    shmem_info_get_version(&major, &minor);
    const int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    wrong +=
        before != 0 || major != SHMEM_MAJOR_VERSION || minor != SHMEM_MINOR_VERSION || strlen(vendor) < 8;
    for (size_t i = 0; i < sizeof compares / sizeof compares[0]; ++i) wrong += name_of(compares[i]) == NULL;
    wrong += shmem_team_n_pes(table[0].team) != n || table[1].team != SHMEM_TEAM_INVALID;
    shmem_ctx_longdouble_p(table[0].ctx, &wide, 1.5L + me, next);
    shmem_longdouble_put(&wide_target, &(long double){2.5L}, 1, next);
    shmem_barrier_all();
    wrong += wide != 1.5L + (me + n - 1) % n || wide_target != 2.5L;
    for (int i = 0; i < 8; ++i) shmem_uint64_atomic_set(&array[i], (uint64_t)i + 1, next);
    size_t done = 0;
    while (done < 8) {
        const size_t got = shmem_uint64_wait_until_some(array, 8, indices, status, SHMEM_CMP_GT, 0);
        for (size_t i = 0; i < got; ++i) {
            wrong += array[indices[i]] != indices[i] + 1;
            status[indices[i]] = 1;
        }
        done += got;
    }
    wrong += shmem_uint64_wait_until_any(array, 8, status, SHMEM_CMP_GT, 0) != SIZE_MAX;
    terms[0] = (float)me;
    shmem_complexf_sum_reduce(SHMEM_TEAM_WORLD, sums, terms, 2);
    wrong += sums[0] != (float)(n * (n - 1)) / 2;
    void* heap = shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    wrong += heap == NULL || !shmem_addr_accessible(heap, next) || !shmem_pe_accessible(next);
    char* there = shmem_ptr(heap, next);
    if (there != NULL) there[me % 64] = 1;
    shmem_putmem((char*)heap + 1, "abc", 3, next);
    shmem_put8((char*)heap + 8, "x", 1, next);
    shmem_put128((char*)heap + 16, "0123456789abcde", 1, next);
    shmem_barrier_all();
    wrong += memcmp((char*)heap + 16, "0123456789abcde", 16) != 0;
    shmem_free(heap);
    if (wrong) fprintf(stderr, "PE %d: %d wrong\n", me, wrong);
    if (wrong) shmem_global_exit(1);
    shmem_finalize();
    return 0;
}
