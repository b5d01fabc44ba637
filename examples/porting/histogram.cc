// Random numbers are counted in a table that is spread over all PEs, by atomic additions.
#include <cstdint>
#include <cstdio>
#include <nvshmem.h>
#include <nvshmemx.h>

constexpr int bins_per_pe = 32, numbers = 20000;

int main(void) {
    nvshmem_init();
    const int me = nvshmem_my_pe(), n = nvshmem_n_pes();
    auto* bins = static_cast<int64_t*>(nvshmem_calloc(bins_per_pe, sizeof(int64_t)));
    auto* mine = static_cast<int64_t*>(nvshmem_calloc(2, sizeof(int64_t)));
    auto* total = static_cast<int64_t*>(nvshmem_calloc(2, sizeof(int64_t)));
    if (bins == nullptr || mine == nullptr || total == nullptr) nvshmem_global_exit(1);

    uint64_t state = 88172645463325252ull + (uint64_t)me * 7919u;
    for (int i = 0; i < numbers; ++i) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        const int bin = (int)(state % (uint64_t)(bins_per_pe * n));
        nvshmem_int64_atomic_inc(bins + bin % bins_per_pe, bin / bins_per_pe);
    }
    nvshmem_barrier_all();

    int64_t count = 0, largest = 0;
    for (int i = 0; i < bins_per_pe; ++i) {
        const int64_t bin = nvshmem_int64_g(bins + i, me);
        count += bin;
        if (bin > largest) largest = bin;
    }
    nvshmem_int64_p(mine, count, me);
    nvshmem_int64_p(mine + 1, largest, me);
    nvshmem_quiet();
    nvshmem_int64_sum_reduce(NVSHMEM_TEAM_WORLD, total, mine, 1);
    nvshmem_int64_max_reduce(NVSHMEM_TEAM_WORLD, total + 1, mine + 1, 1);
    const int64_t all = nvshmem_int64_g(total, me), most = nvshmem_int64_g(total + 1, me);
    if (me == 0)
        std::printf("%lld numbers, at most %lld in a bin\n", static_cast<long long>(all),
                    static_cast<long long>(most));
    const int wrong = all != (int64_t)numbers * n || most <= 0;

    nvshmem_free(total);
    nvshmem_free(mine);
    nvshmem_free(bins);
    nvshmem_finalize();
    return wrong;
}
