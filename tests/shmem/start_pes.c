/* A program of OpenSHMEM 1.0: no finalize, its exit is one. */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>

static int word;

int main(void) {
    start_pes(0);
    start_pes(0);
    const int next = (_my_pe() + 1) % _num_pes();
    shmem_int_p(&word, _my_pe() + 1, next);
    shmem_barrier_all();
    return word == (_my_pe() + _num_pes() - 1) % _num_pes() + 1 ? 0 : 1;
}
