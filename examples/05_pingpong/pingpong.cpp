// Measures the time of a word from one PE to another. PE 0 and PE 1 pass it back and forth; the result is
// half a round trip.
#include <atoll/atoll.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    atoll::Job& job = atoll::init();
    const int me = atoll::my_pe(), n = atoll::n_pes();
    const std::uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
    atoll::SymmetricArray<std::uint64_t> ball(job, 1);

    const auto start = std::chrono::steady_clock::now();
    if (n > 1 && me < 2) {
        for (std::uint64_t i = 1; i <= rounds; ++i) {
            if (me == 0) atoll::signal_set(ball.data(), i, 1);
            atoll::signal_wait_until(ball.data(), atl::Compare::eq, i);
            if (me == 1) atoll::signal_set(ball.data(), i, 0);
        }
    }
    const std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - start;
    atoll::barrier_all();

    if (n == 1)
        std::printf("There is no PE to play with; try: atoll run -n 2 %s\n", argv[0]);
    else if (me == 0)
        std::printf("one way: %.0f ns, the mean of %llu rounds\n",
                    passed.count() / static_cast<double>(2 * rounds),
                    static_cast<unsigned long long>(rounds));
    const bool right = n == 1 || me > 1 || ball[0] == rounds;
    atoll::finalize();
    return right ? 0 : 1;
}
