// Integer sort by buckets: PE k gets all keys of the k-th part of the range. The PEs first exchange the
// numbers of keys (alltoall). So each PE knows where to put its own (irregular puts), and then sorts the keys
// that it received.
#include <atoll/atoll.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

using Key = std::uint32_t;

int main(int argc, char** argv) {
    atoll::Job& job = atoll::init();
    const int me = atoll::my_pe();
    const auto n = static_cast<std::size_t>(atoll::n_pes());
    const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    constexpr Key range = 1u << 27;
    const auto bucket_of = [&](Key key) { return static_cast<std::size_t>(std::uint64_t{key} * n / range); };

    std::vector<Key> keys(count);
    std::mt19937 random(static_cast<unsigned>(me) + 1);
    for (Key& key : keys) key = static_cast<Key>(random() % range);

    // My keys, those for PE 0 first, then those for PE 1, ...
    std::sort(keys.begin(), keys.end(), [&](Key a, Key b) { return bucket_of(a) < bucket_of(b); });
    std::vector<std::uint64_t> send(n), receive(n), to(n);
    for (const Key key : keys) ++send[bucket_of(key)];

    // Exchanges the counts, computes the offset of each sender's keys in my memory, and returns it to the
    // sender.
    atoll::alltoall(std::span(receive), std::span(send));
    std::vector<std::uint64_t> from(n);
    std::exclusive_scan(receive.begin(), receive.end(), from.begin(), std::uint64_t{0});
    atoll::alltoall(std::span(to), std::span(from));

    const std::uint64_t mine = from.back() + receive.back();
    std::uint64_t most = mine;
    atoll::max_reduce(std::span(&most, 1), std::span(&most, 1));
    atoll::SymmetricArray<Key> sorted(job, most);  // the same size on every PE, so the largest
    for (std::size_t pe = 0, first = 0; pe < n; first += send[pe++])
        atoll::put(&sorted[to[pe]], &keys[first], send[pe], static_cast<int>(pe));
    atoll::barrier_all();
    std::sort(sorted.begin(), sorted.begin() + mine);

    // Correct if every PE's part is sorted and in its range, and no key was lost or changed: count and sum
    // match.
    const auto part = sorted.subspan(0, mine);
    const bool in_place = std::all_of(
        part.begin(), part.end(), [&](Key key) { return bucket_of(key) == static_cast<std::size_t>(me); });
    std::vector<std::uint64_t> sums = {count, std::accumulate(keys.begin(), keys.end(), std::uint64_t{0}),
                                       mine, std::accumulate(part.begin(), part.end(), std::uint64_t{0})};
    std::uint64_t wrong = !in_place || !std::is_sorted(part.begin(), part.end());
    atoll::sum_reduce(std::span(sums), std::span(sums));
    atoll::sum_reduce(std::span(&wrong, 1), std::span(&wrong, 1));
    const bool right = wrong == 0 && sums[0] == sums[2] && sums[1] == sums[3];
    if (me == 0)
        std::printf("%llu keys sorted by %zu PEs: %s\n", static_cast<unsigned long long>(sums[0]), n,
                    right ? "right" : "WRONG");
    atoll::finalize();
    return right ? 0 : 1;
}
