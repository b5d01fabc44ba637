// C++: overloads by type, and where each PE's part of a list begins by an exclusive scan.
#include <shmem.h>

#include <iostream>
#include <sstream>
#include <vector>

static long length, begin, total;

int main() {
    shmem_init();
    const int me = shmem_my_pe(), n = shmem_n_pes();
    std::vector<int> mine(static_cast<std::size_t>(me + 1), me);
    length = static_cast<long>(mine.size());
    shmem_sum_exscan(SHMEM_TEAM_WORLD, &begin, &length, 1);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &total, &length, 1);
    auto* list = static_cast<int*>(shmem_malloc(static_cast<std::size_t>(total) * sizeof(int)));
    shmem_put(list + begin, mine.data(), mine.size(), 0);
    shmem_barrier_all();
    std::ostringstream line;
    line << "PE " << me << " begins at " << begin << " of " << total << "\n";
    std::cout << line.str() << std::flush;
    bool right = begin == long{me} * (me + 1) / 2;
    for (long i = 1; me == 0 && i < total; ++i) right = right && list[i] >= list[i - 1];
    shmem_free(list);
    shmem_finalize();
    return right && total == long{n} * (n + 1) / 2 ? 0 : 1;
}
