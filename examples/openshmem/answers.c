/* PE 0 asks all PEs, takes the answers as they arrive, and then sends the result to all. */
#include <shmem.h>
#include <stdio.h>

enum { MOST = 64 };

static long question, answers[MOST], received[MOST];

int main(void) {
    shmem_init();
    const int me = shmem_my_pe();
    const size_t n = (size_t)shmem_n_pes();
    question = me == 0 ? 7 : 0;
    if (n > MOST) shmem_global_exit(1);
    static long asked;
    shmem_broadcast(SHMEM_TEAM_WORLD, &asked, &question, 1, 0);
    shmem_atomic_set(&answers[me], asked * (me + 1), 0);
    long sum = 0;
    if (me == 0) {
        int done[MOST] = {0};
        size_t which[MOST];
        for (size_t left = n; left > 0;) {
            const size_t count = shmem_wait_until_some(answers, n, which, done, SHMEM_CMP_NE, 0);
            for (size_t i = 0; i < count; ++i) {
                sum += answers[which[i]];
                done[which[i]] = 1; /* not waited for again */
            }
            left -= count;
        }
        printf("%zu answers, sum %ld\n", n, sum);
    }
    shmem_collect(SHMEM_TEAM_WORLD, received, &asked, 1);
    int wrong = me == 0 && sum != 7 * (long)(n * (n + 1)) / 2;
    for (size_t i = 0; i < n; ++i) wrong |= received[i] != 7;
    shmem_finalize();
    return wrong;
}
