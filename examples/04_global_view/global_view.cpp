// The PEs of one host load and store each other's memory: the symmetric array of all PEs is one table with a
// row per PE.
#include <atoll/atoll.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
    atoll::Job& job = atoll::init();
    const int me = atoll::my_pe(), n = atoll::n_pes();
    atoll::SymmetricArray<int> row(job, 5);
    std::iota(row.begin(), row.end(), 10 * me);  // 10 me, 10 me + 1, ...
    atoll::barrier_all();

    // One span per PE, made once. After that every access is a load or a store, without a call of Atoll.
    std::vector<std::span<int>> everyone;
    for (int pe = 0; pe < n; ++pe) everyone.push_back(row.peer(pe));

    int column_sum = 0;
    for (int pe = 0; pe < n; ++pe) column_sum += everyone[pe][3];
    atoll::barrier_all();  // all have read the values that are overwritten next

    everyone[(me + 1) % n][0] = -me;  // a store into the next PE's row
    atoll::barrier_all();

    if (me == 0)
        for (int pe = 0; pe < n; ++pe)
            std::printf("row of PE %d: %3d %3d %3d %3d %3d\n", pe, everyone[pe][0], everyone[pe][1],
                        everyone[pe][2], everyone[pe][3], everyone[pe][4]);
    const bool right = column_sum == 10 * n * (n - 1) / 2 + 3 * n && row[0] == -((me + n - 1) % n);
    atoll::finalize();
    return right ? 0 : 1;
}
