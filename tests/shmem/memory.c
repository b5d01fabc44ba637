/* The symmetric heap: memory returned by calls, and contents that remain. */
#include "check.h"

static void contents_move_with_realloc(void) {
    long* block = shmem_malloc(10 * sizeof *block);
    for (long i = 0; i < 10; ++i) block[i] = i + shmem_my_pe();
    block = shmem_realloc(block, 100000 * sizeof *block);
    CHECK(block != NULL);
    for (long i = 0; i < 10; ++i) CHECK(block[i] == i + shmem_my_pe());
    block = shmem_realloc(block, 5 * sizeof *block);
    for (long i = 0; i < 5; ++i) CHECK(block[i] == i + shmem_my_pe());
    CHECK(shmem_realloc(block, (size_t)1 << 60) == NULL); /* it stays */
    for (long i = 0; i < 5; ++i) CHECK(block[i] == i + shmem_my_pe());
    CHECK(shmem_realloc(block, 0) == NULL); /* freed */
    block = shmem_realloc(NULL, 64);
    CHECK(block != NULL);
    shmem_free(block);
}

static void nothing_and_too_much(void) {
    CHECK(shmem_malloc(0) == NULL);
    CHECK(shmem_calloc(0, 8) == NULL && shmem_calloc(8, 0) == NULL);
    CHECK(shmem_align(64, 0) == NULL);
    if (getenv("ATOLL_CHECK") == NULL) CHECK(shmem_align(24, 8) == NULL); /* at levels that name no mistake */
    CHECK(shmem_malloc((size_t)1 << 60) == NULL);
    CHECK(shmem_calloc(SIZE_MAX / 2, 4) == NULL);
    shmem_free(NULL);
    if (shmem_my_pe() == 0) CHECK(shmem_malloc(0) == NULL); /* no barrier, so one PE may call it alone */
}

static void alignment_and_hints(void) {
    for (size_t alignment = 8; alignment <= 65536; alignment *= 2) {
        char* block = shmem_align(alignment, 100);
        CHECK(block != NULL && (uintptr_t)block % alignment == 0);
        shmem_free(block);
    }
    long* hinted = shmem_malloc_with_hints(64, SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(hinted != NULL && shmem_malloc_with_hints(0, 0) == NULL);
    shmem_free(hinted);
    char* zeroed = shmem_malloc(1000);
    memset(zeroed, 1, 1000);
    shmem_free(zeroed);
    zeroed = shmem_calloc(10, 100);
    for (int i = 0; i < 1000; ++i) CHECK(zeroed[i] == 0);
    shmem_free(zeroed);
}

static void deprecated_names(void) {
    int* a = shmalloc(4 * sizeof *a);
    int* b = shmemalign(4096, 4 * sizeof *b);
    CHECK(a && b && (uintptr_t)b % 4096 == 0);
    a[3] = 7;
    a = shrealloc(a, 4000);
    CHECK(a[3] == 7);
    shfree(a);
    shfree(b);
}

static void where_it_can_be_reached(void) {
    long* word = shmem_malloc(sizeof *word);
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();
    int local = 0;
    *word = shmem_my_pe();
    shmem_barrier_all();
    long* there = shmem_ptr(word, next);
    CHECK(there ? *there == next : shmem_team_translate_pe(SHMEM_TEAM_WORLD, next, SHMEM_TEAM_SHARED) == -1);
    CHECK(shmem_ptr(word, shmem_my_pe()) == word);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, word, next) == there);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, word, next) == NULL);
    CHECK(shmem_ptr(&local, next) == NULL && shmem_ptr(word, shmem_n_pes()) == NULL);
    CHECK(shmem_addr_accessible(word, next) == 1 && shmem_addr_accessible(&local, next) == 0);
    CHECK(shmem_addr_accessible(word, shmem_n_pes()) == 0);
    shmem_barrier_all();
    shmem_free(word);
}

int main(void) {
    shmem_init();
    contents_move_with_realloc();
    nothing_and_too_much();
    alignment_and_hints();
    deprecated_names();
    where_it_can_be_reached();
    shmem_finalize();
    return 0;
}
