/* NVSHMEM's untyped host functions from C, as a program with host memory uses them. */
#include <nvshmem.h>
#include <nvshmemx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "PE %d, line %d: %s\n", nvshmem_my_pe(), __LINE__, #condition); \
            nvshmem_global_exit(1);                                                         \
        }                                                                                   \
    } while (0)

static void teams(int me, int n) {
    nvshmem_team_t odd = NVSHMEM_TEAM_INVALID, row, column, all, backwards;
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    REQUIRE(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == me && nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == n);
    REQUIRE(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) == me &&
            nvshmem_team_n_pes(NVSHMEMX_TEAM_SAME_MYPE_NODE) == 1);
    REQUIRE(nvshmem_team_n_pes(NVSHMEM_TEAM_MC_SHARED) == n);
    REQUIRE(nvshmem_team_my_pe(NVSHMEM_TEAM_INVALID) == -1 && nvshmem_team_n_pes(99) == -1);
    REQUIRE(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, n, &config, 0, &all) == 0);
    REQUIRE(nvshmem_team_n_pes(all) == n && nvshmem_barrier(all) == 0 && nvshmem_team_sync(all) == 0);
    nvshmem_team_get_config(all, &config);
    REQUIRE(config.num_contexts == 0);
    if (n > 1) {
        REQUIRE(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &odd) == 0);
        REQUIRE((odd == NVSHMEM_TEAM_INVALID) == (me % 2 == 0));
        REQUIRE(nvshmem_team_my_pe(odd) == (me % 2 == 0 ? -1 : me / 2));
        if (me % 2 == 1) REQUIRE(nvshmem_team_translate_pe(odd, 0, NVSHMEM_TEAM_WORLD) == 1);
    }
    REQUIRE(nvshmem_team_split_2d(NVSHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column) == 0);
    REQUIRE(nvshmem_team_my_pe(row) == me % 2 && nvshmem_team_my_pe(column) == me / 2);
    uint64_t* id = nvshmem_malloc(sizeof *id);
    if (me == 0) {
        REQUIRE(nvshmemx_team_get_uniqueid(id) == 0);
        for (int pe = 1; pe < n; ++pe) nvshmem_uint64_p(id, *id, pe);
    }
    nvshmem_barrier_all();
    config.uniqueid = *id;
    REQUIRE(nvshmemx_team_init(&backwards, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, n, n - 1 - me) == 0);
    REQUIRE(nvshmem_team_translate_pe(backwards, 0, NVSHMEM_TEAM_WORLD) == n - 1);
    REQUIRE(nvshmem_barrier(backwards) == 0);
    nvshmem_team_destroy(backwards);
    nvshmem_free(id);
    nvshmem_team_destroy(odd);
    nvshmem_team_destroy(row);
    nvshmem_team_destroy(column);
    nvshmem_team_destroy(all);
    REQUIRE(nvshmem_team_my_pe(all) == -1);
}

/* The numbers that programs without this header write out, and waits of the host by them that are over at
 * once. */
static void numbers(void) {
    static const int true_for_7[][2] = {{0, 7}, {1, 6}, {1, 8}, {2, 6}, {3, 7},
                                        {3, 8}, {4, 8}, {5, 7}, {5, 6}};
    REQUIRE(NVSHMEM_CMP_EQ == 0 && NVSHMEM_CMP_NE == 1 && NVSHMEM_CMP_GT == 2 && NVSHMEM_CMP_LE == 3);
    REQUIRE(NVSHMEM_CMP_LT == 4 && NVSHMEM_CMP_GE == 5 && NVSHMEM_SIGNAL_SET == 9 &&
            NVSHMEM_SIGNAL_ADD == 10);
    uint64_t* word = nvshmem_calloc(1, sizeof *word);
    nvshmemx_signal_op_on_stream(word, 3, 9, nvshmem_my_pe(), 0);
    nvshmemx_signal_op_on_stream(word, 4, 10, nvshmem_my_pe(), 0);
    for (size_t i = 0; i < sizeof true_for_7 / sizeof *true_for_7; ++i)
        nvshmemx_signal_wait_until_on_stream(word, true_for_7[i][0], (uint64_t)true_for_7[i][1], 0);
    REQUIRE(nvshmem_signal_fetch(word) == 7);
    nvshmem_free(word);
}

static void memory(int me, int n) {
    int right = (me + 1) % n, left = (me + n - 1) % n;
    char* a = nvshmem_malloc(100);
    char* b = nvshmem_align(256, 100);
    REQUIRE(a != NULL && b != NULL && (size_t)b % 256 == 0);
    memset(b, me + 1, 100);
    nvshmem_barrier_all();
    nvshmem_putmem(a, b, 100, right);
    nvshmem_barrier_all();
    REQUIRE(a[99] == left + 1);
    nvshmemx_putmem_on_stream(a, b, 50, left, 0);
    nvshmemx_barrier_all_on_stream(0);
    REQUIRE(a[49] == right + 1 && a[50] == left + 1);
    nvshmem_getmem_nbi(a, b, 100, left);
    nvshmem_quiet();
    REQUIRE(a[0] == left + 1);
    nvshmemx_getmem_nbi_on_stream(a, b, 100, right, 0);
    nvshmemx_quiet_on_stream(0);
    REQUIRE(a[0] == right + 1);
    nvshmem_fence();
    nvshmemx_flush();
    REQUIRE(((char*)nvshmem_ptr(b, right))[0] == right + 1);
    REQUIRE(nvshmemx_mc_ptr(NVSHMEM_TEAM_WORLD, a) == NULL);
    REQUIRE(nvshmemx_buffer_register(b, 100) == 0 && nvshmemx_buffer_unregister(b) == 0);
    REQUIRE(nvshmem_broadcastmem(NVSHMEM_TEAM_WORLD, a, b, 100, 0) == 0 && a[3] == 1);
    REQUIRE(nvshmemx_fcollectmem_on_stream(NVSHMEM_TEAM_WORLD, a, b, 1, 0) == 0 && a[n - 1] == n);
    REQUIRE(nvshmem_malloc((size_t)1 << 60) == NULL);
    nvshmem_barrier_all();
    nvshmem_free(a);
    nvshmem_free(b);
}

static int is_active(uint32_t hints) {
    int active = -1;
    REQUIRE(nvshmemx_region_is_active(hints, &active) == 0);
    return active;
}

/* One region at a time. Wrong calls return a status, and change nothing. */
static void regions(void) {
    nvshmemx_region_handle_t region = 0, other = 0;
    nvshmemx_region_attrs_t batch = NVSHMEMX_REGION_ATTRS_INITIALIZER,
                            wrong = NVSHMEMX_REGION_ATTRS_INITIALIZER;
    batch.hints = NVSHMEMX_REGION_HINT_BATCH_RMA;
    wrong.hints = 1u << 31;
    REQUIRE(is_active(NVSHMEMX_REGION_HINT_NONE) == 0);
    REQUIRE(nvshmemx_region_stop(1) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_start(NULL, &batch) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_start(&region, &wrong) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_is_active(NVSHMEMX_REGION_HINT_NONE, NULL) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_start(&region, &batch) == 0);
    REQUIRE(is_active(NVSHMEMX_REGION_HINT_NONE) == 1 && is_active(NVSHMEMX_REGION_HINT_BATCH_RMA) == 1);
    REQUIRE(nvshmemx_region_start(&other, &batch) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_stop(region + 1) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_stop(region) == 0);
    REQUIRE(nvshmemx_region_stop(region) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_start(&region, NULL) == 0);
    REQUIRE(is_active(NVSHMEMX_REGION_HINT_NONE) == 1 && is_active(NVSHMEMX_REGION_HINT_BATCH_RMA) == 0);
    REQUIRE(nvshmemx_region_stop(region) == 0 && is_active(NVSHMEMX_REGION_HINT_NONE) == 0);
}

static void queries(void) {
    int major = 0, minor = 0, patch = -1, provided = -1;
    char name[NVSHMEM_MAX_NAME_LEN];
    nvshmemx_qp_handle_t* queue_pairs = NULL;
    nvshmem_info_get_version(&major, &minor);
    REQUIRE(major == NVSHMEM_MAJOR_VERSION && minor == NVSHMEM_MINOR_VERSION);
    nvshmemx_vendor_get_version_info(&major, &minor, &patch);
    REQUIRE(major == NVSHMEM_VENDOR_MAJOR_VERSION && patch == NVSHMEM_VENDOR_PATCH_VERSION);
    nvshmem_info_get_name(name);
    REQUIRE(strcmp(name, NVSHMEM_VENDOR_STRING) == 0);
    nvshmem_query_thread(&provided);
    REQUIRE(provided == NVSHMEM_THREAD_MULTIPLE);
    REQUIRE(nvshmemx_ask_smem(NVSHMEMX_SMEM_RECOMMENDED) == 65536);
    REQUIRE(nvshmemx_ask_smem(NVSHMEMX_SMEM_MINIMUM) == 32768);
    REQUIRE(nvshmemx_ask_smem(NVSHMEMX_SMEM_BARRIERS_ONLY) == NVSHMEMI_SMEM_DATA_REGION_OFFSET);
    REQUIRE(strcmp(nvshmemx_status_string(NVSHMEMX_ERROR_SYMMETRY), "NVSHMEMX_ERROR_SYMMETRY") == 0);
    REQUIRE(strcmp(nvshmemx_status_string(99), "NVSHMEMX_ERROR_<unknown>") == 0);
    REQUIRE(nvshmemx_qp_create(3, &queue_pairs) == 0 && queue_pairs[2] == NVSHMEMX_QP_DEFAULT);
    free(queue_pairs);
    regions();
}

/* Regions exist between init and finalize alone. */
static void refuse_regions(void) {
    nvshmemx_region_handle_t region = 77;
    int active = -1;
    REQUIRE(nvshmemx_region_start(&region, NULL) == NVSHMEMX_ERROR_INVALID_VALUE && region == 77);
    REQUIRE(nvshmemx_region_is_active(NVSHMEMX_REGION_HINT_NONE, &active) == NVSHMEMX_ERROR_INVALID_VALUE);
    REQUIRE(nvshmemx_region_stop(1) == NVSHMEMX_ERROR_INVALID_VALUE && active == -1);
}

/* A region that was not stopped ends with the library, as in NVSHMEM. */
static void leave_with_region(void) {
    nvshmemx_region_handle_t region = 0;
    REQUIRE(nvshmemx_region_start(&region, NULL) == 0);
    nvshmem_finalize();
    nvshmem_init();
    REQUIRE(is_active(NVSHMEMX_REGION_HINT_NONE) == 0);
}

int main(void) {
    int provided = -1;
    REQUIRE(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED);
    refuse_regions();
    REQUIRE(nvshmem_init_thread(NVSHMEM_THREAD_MULTIPLE, &provided) == 0 &&
            provided == NVSHMEM_THREAD_MULTIPLE);
    REQUIRE(nvshmemx_init_status() == NVSHMEM_STATUS_IS_INITIALIZED);
    teams(nvshmem_my_pe(), nvshmem_n_pes());
    numbers();
    memory(nvshmem_my_pe(), nvshmem_n_pes());
    queries();
    leave_with_region();
    nvshmem_finalize();
    refuse_regions();
    return 0;
}
