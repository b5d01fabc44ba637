// Common parts of the measurements of kernels: a symmetric block, a timer, and a line of JSON a row by PE 0.
// Rows in one direction run between PEs 0 and 1; all others wait meanwhile.
#pragma once

#include "timer.cuh"

#include "atoll/atoll.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

namespace bench {

using atl::device::Team;
using Word = unsigned long long;

constexpr int batches = 15;
constexpr std::size_t most = 1 << 20;

inline void report(const char* side, const char* operation, std::size_t bytes, int n_pes,
                   std::vector<double> us) {
    std::sort(us.begin(), us.end());
    const double median = us[us.size() / 2];
    std::printf(
        "{\"side\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"pes\": %d, \"median_us\": %.4f, \"p10_us\": "
        "%.4f, "
        "\"p90_us\": %.4f, \"mean_us\": %.4f, \"gb_per_s\": %.2f}\n",
        side, operation, bytes, n_pes, median, us[us.size() / 10], us[us.size() - 1 - us.size() / 10],
        std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size()),
        static_cast<double>(bytes) / median * 1e-3);
    std::fflush(stdout);
}

struct Bench {
    atl::Job& job;
    Team team;
    char* block;
    Timer timer;
    Word epoch = 1;

    char* target() const { return block + most; }
    bool paired() const { return job.my_pe() < 2; }
    Word* flag() const { return reinterpret_cast<Word*>(block); }

    /// PEs 0 and 1 run `rounds` of a ping-pong; one way is half of a round.
    template <class Launch>
    void one_way(const char* side, const char* operation, std::size_t bytes, Launch launch,
                 int rounds = 2000) {
        const std::vector<double> us = times_one_way(launch, rounds);
        if (job.my_pe() == 0) report(side, operation, bytes, job.n_pes(), us);
    }
    template <class Launch> std::vector<double> times_one_way(Launch launch, int rounds) {
        std::vector<double> us;
        for (int i = 0; i < batches + 2; ++i) {
            job.world().barrier();
            const double total =
                paired() ? timer.us([&](cudaStream_t stream) { launch(stream, epoch, rounds); }) : 0;
            epoch += rounds;
            if (i >= 2) us.push_back(total / rounds / 2);  // the first ones warm the clock
        }
        return us;
    }
    /// A ping-pong by flags at each of 16 places, since the way to a word depends on its address. The row's
    /// median is over the medians of the places.
    template <class Launch> void one_way_of_flags(const char* side, const char* operation, Launch launch) {
        constexpr std::size_t places = 16, bytes_between = 4096 + 64;
        std::vector<double> us;
        for (std::size_t place = 0; place < places; ++place) {
            const std::size_t offset = place * bytes_between;
            std::vector<double> of_place = times_one_way(
                [&](cudaStream_t s, Word from, int rounds) { launch(s, offset, from, rounds); }, 2000);
            std::sort(of_place.begin(), of_place.end());
            us.push_back(of_place[of_place.size() / 2]);
        }
        if (job.my_pe() == 0) report(side, operation, sizeof(Word), job.n_pes(), us);
    }
    template <class Launch> void bandwidth(const char* operation, std::size_t bytes, Launch launch) {
        std::vector<double> us;
        job.world().barrier();
        if (job.my_pe() == 0) {
            for (int i = 0; i < batches + 2; ++i) {
                const double total = timer.us(launch);
                if (i >= 2) us.push_back(total);
            }
            report("atoll", operation, bytes, job.n_pes(), us);
        }
        job.world().barrier();
    }
};

/// Implements main() of a benchmark program.
inline int run(void (*measure)(Bench&)) {
    atl::Job& job = atl::init();
    if (job.n_pes() < 2) {
        std::fprintf(stderr, "two PEs or more, please\n");
        return 1;
    }
    auto* block = static_cast<char*>(job.calloc(1, most + (std::size_t{130} << 20), atl::Memory::device));
    check(cudaSetDevice(job.device_heap_use().number));
    Bench b{job, job.world().device(atl::Memory::device), block, {}};
    measure(b);
    job.free(block);
    atl::finalize();
    return 0;
}

}  // namespace bench
