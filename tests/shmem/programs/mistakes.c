/* One call of mistakes.tsv, made by PE 0, under its C name: CALL PLACE LOCAL COUNT PE, and the heap's size.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 9 }; /* 72 bytes; the granules after them belong to the same block */

struct places {
    long *heap, *block, *freed, *on_stack;
    size_t heap_bytes;
};

static long* place(const struct places* of, const char* name) {
    char* end = (char*)of->heap + of->heap_bytes;
    if (strcmp(name, "block") == 0) return of->block;
    if (strcmp(name, "past") == 0) return of->block + elements / 2;
    if (strcmp(name, "behind") == 0) return of->block + elements;
    if (strcmp(name, "freed") == 0) return of->freed;
    if (strcmp(name, "never") == 0) return (long*)(void*)(end - 4096);
    if (strcmp(name, "end") == 0) return (long*)(void*)end - elements / 2;
    if (strcmp(name, "last") == 0) return (long*)(void*)end - 1;
    if (strcmp(name, "before") == 0) return of->heap - elements / 2;
    if (strcmp(name, "beyond") == 0) return (long*)(void*)(end + 4096);
    if (strcmp(name, "stack") == 0 || strcmp(name, "own") == 0) return of->on_stack;
    if (strcmp(name, "peer") == 0) return shmem_ptr(of->block, 1);
    if (strcmp(name, "odd") == 0) return (long*)(void*)((char*)of->block + 1);
    if (strcmp(name, "null") == 0) return NULL;
    fprintf(stderr, "no such place: %s\n", name);
    exit(2);
}

static void call(const char* name, long* remote, long* local, size_t count, int pe) {
    static uint64_t word;
    if (strcmp(name, "put") == 0)
        shmem_long_put(remote, local, count, pe);
    else if (strcmp(name, "get") == 0)
        shmem_long_get(local, remote, count, pe);
    else if (strcmp(name, "p") == 0)
        shmem_long_p(remote, 1, pe);
    else if (strcmp(name, "g") == 0)
        (void)shmem_long_g(remote, pe);
    else if (strcmp(name, "iput") == 0)
        shmem_long_iput(remote, local, 1, 1, count, pe);
    else if (strcmp(name, "add") == 0)
        shmem_long_atomic_add(remote, 1, pe);
    else if (strcmp(name, "fetch_add") == 0)
        (void)shmem_long_atomic_fetch_add(remote, 1, pe);
    else if (strcmp(name, "signal_set") == 0)
        shmem_signal_set((uint64_t*)remote, 1, pe);
    else if (strcmp(name, "put_signal") == 0)
        shmem_long_put_signal(remote, local, count, &word, 1, SHMEM_SIGNAL_SET, pe);
    else if (strcmp(name, "wait") == 0)
        shmem_long_wait_until(remote, SHMEM_CMP_NE, 77);
    else if (strcmp(name, "wait_9") == 0)
        shmem_long_wait_until(remote, 9, 77);
    else if (strcmp(name, "test") == 0)
        (void)shmem_long_test(remote, SHMEM_CMP_NE, 77);
    else if (strcmp(name, "test_9") == 0)
        (void)shmem_long_test(remote, 9, 77);
    else
        exit(3);
}

int main(int argc, char** argv) {
    long on_stack[elements] = {0};
    struct places places = {.on_stack = on_stack};
    if (argc != 7) return 4;
    shmem_init();
    places.heap = shmem_malloc(64); /* the first block of a heap is its start */
    places.block = shmem_calloc(elements, sizeof(long));
    places.freed = shmem_calloc(elements, sizeof(long));
    places.heap_bytes = (size_t)strtoull(argv[6], NULL, 10);
    shmem_free(places.freed);
    const int me = shmem_my_pe(), n = shmem_n_pes();
    const int pe = strcmp(argv[5], "me") == 0      ? me
                   : strcmp(argv[5], "other") == 0 ? 1
                   : strcmp(argv[5], "none") == 0  ? n
                                                   : -1;
    shmem_barrier_all();
    if (me == 0) {
        call(argv[1], place(&places, argv[2]), place(&places, argv[3]), (size_t)atoi(argv[4]), pe);
        printf("came back\n");
        fflush(stdout);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
