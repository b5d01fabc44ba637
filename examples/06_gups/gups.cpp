// GUPS: atomic updates of random words of a table distributed over all PEs, at full speed. Verified by
// replay: xor is its own inverse, so the same updates restore the table's initial state.
#include <atoll/atoll.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace {

void update(const atoll::SymmetricArray<std::uint64_t>& table, std::uint64_t updates) {
    const auto n = static_cast<std::uint64_t>(atoll::n_pes());
    std::mt19937_64 random(static_cast<std::uint64_t>(atoll::my_pe()) + 1);
    for (std::uint64_t i = 0; i < updates; ++i) {
        const std::uint64_t value = random();
        const std::uint64_t place = value % (table.size() * n);
        atoll::atomic_xor(&table[place % table.size()], value, static_cast<int>(place / table.size()));
    }
    atoll::barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
    atoll::Job& job = atoll::init();
    const std::uint64_t updates = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    constexpr std::size_t words = 1 << 18;
    atoll::SymmetricArray<std::uint64_t> table(job, words);
    std::iota(table.begin(), table.end(), 0);
    atoll::barrier_all();

    const auto start = std::chrono::steady_clock::now();
    update(table, updates);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;

    std::size_t changed = 0;
    for (std::size_t i = 0; i < words; ++i) changed += table[i] != i;
    atoll::barrier_all();
    update(table, updates);  // the replay
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < words; ++i) wrong += table[i] != i;

    std::vector<std::size_t> sums = {changed, wrong};
    atoll::sum_reduce(std::span(sums), std::span(sums));
    const double total = static_cast<double>(updates) * atoll::n_pes();
    if (atoll::my_pe() == 0) {
        std::printf("%.0f updates in %.3f s: %.4f GUPS\n", total, passed.count(),
                    total / passed.count() / 1e9);
        std::printf("%zu words had changed; after the replay %zu are wrong\n", sums[0], sums[1]);
    }
    atoll::finalize();
    return sums[1] == 0 && sums[0] > 0 ? 0 : 1;
}
