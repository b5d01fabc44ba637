/* The profiling interface: a tool's own shmem_NAME replaces the library's, which is then called as
 * pshmem_NAME. */
#include <pshmem.h>
#include <stdio.h>

static size_t puts_seen, bytes_seen;

void shmem_putmem(void* dest, const void* source, size_t nelems, int pe) {
    ++puts_seen;
    bytes_seen += nelems;
    pshmem_putmem(dest, source, nelems, pe);
}

static char mailbox[32];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    char text[32];
    const int length = snprintf(text, sizeof text, "from PE %d", me);
    for (int i = 0; i < 3; ++i) shmem_putmem(mailbox, text, (size_t)length + 1, next);
    shmem_barrier_all();
    if (me == 0) printf("%zu puts of %zu bytes; arrived: %s\n", puts_seen, bytes_seen, mailbox);
    shmem_finalize();
    return puts_seen != 3;
}
