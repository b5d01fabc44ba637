// A number goes around the ring of PEs: each adds its own, and signals the next one.
#include <cstdint>
#include <cstdio>
#include <nvshmem.h>
#include <nvshmemx.h>

int main(void) {
    nvshmem_init();
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    const int right = (me + 1) % n;
    auto* box = static_cast<long*>(nvshmem_calloc(1, sizeof(long)));
    auto* arrived = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));

    long sum = me;
    for (int turn = 0; turn < n; ++turn) {
        // In turn t the PE t has the sum; PE 0 gets it back at the end.
        if (turn == me) {
            nvshmem_long_p(box, sum, right);
            nvshmem_fence();
            nvshmemx_signal_op(arrived, 1, NVSHMEM_SIGNAL_SET, right);
        }
        if ((turn + 1) % n == me) {
            while (nvshmem_signal_fetch(arrived) != 1) continue;
            sum = nvshmem_long_g(box, me) + (me == 0 ? 0 : me);
        }
    }
    nvshmem_barrier_all();
    const long expected = (long)n * (n - 1) / 2;
    int wrong = 0;
    if (me == 0) {
        std::printf("the sum of %d PEs is %ld\n", n, sum);
        wrong = sum != expected;
    }
    nvshmem_free(arrived);
    nvshmem_free(box);
    nvshmem_finalize();
    return wrong;
}
