/* Reports on standard output whether its static data are symmetric. Two builds are different executables. */
#include <shmem.h>
#include <stdio.h>

static long word;
#ifdef OTHER
static char other[OTHER] = {1};
#endif

int main(void) {
    shmem_init();
    const int next = (shmem_my_pe() + 1) % shmem_n_pes();
    long* heap = shmem_calloc(1, sizeof *heap);
    shmem_long_p(heap, 1, next);
    shmem_barrier_all();
#ifdef OTHER
    if (other[0] != 1) return 3;
#endif
    printf("heap %ld, static %d\n", *heap, shmem_addr_accessible(&word, next));
    shmem_finalize();
    return word == 0 ? 0 : 2;
}
