/* After start_pes an exit is a collective finalize: it waits for PEs that still put here. */
#include <shmem.h>
#include <stdlib.h>
#include <unistd.h>

static int arrived, n;

static void last(void) { /* registered first, so it runs after the library's */
    if (arrived != n) _exit(1);
}

int main(void) {
    if (atexit(last) != 0) return 2;
    start_pes(0);
    n = _num_pes();
    shmem_barrier_all();
    if (_my_pe() == 0) { /* exits at once, while other PEs' puts to it are still to come */
        shmem_int_atomic_inc(&arrived, 0);
        return 0;
    }
    arrived = n;
    for (volatile int i = 0; i < 1000000; ++i) {
    }
    shmem_int_atomic_inc(&arrived, 0);
    exit(0);
}
