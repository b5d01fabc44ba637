/* pshmem.h alone, and a tool's own shmem_barrier_all in place of the library's weak one. */
#include <pshmem.h>

static int barriers;

void shmem_barrier_all(void) {
    ++barriers;
    pshmem_barrier_all();
}

int main(void) {
    pshmem_init();
    static long word;
    pshmem_long_atomic_add(&word, 1, 0);
    shmem_barrier_all();
    const int right = pshmem_long_g(&word, 0) == pshmem_n_pes() && barriers == 1;
    pshmem_pcontrol(2);
    pshmem_finalize();
    return right ? 0 : 1;
}
