// The time of a host call by NVSHMEM's names, beside the same call by shmem.h and in C++. PE 0 prints ns, the
// least of many rounds:
//
//   flags="$(atoll config --nvshmem) $(atoll config --shmem) $(atoll config --cxx)"
//   c++ -std=c++20 -O2 bench/layers/nvshmem.cpp $flags -o layer && atoll run -n 2 ./layer
#define ATOLL_NVSHMEM_WITHOUT_CUDA
#include <atoll/atoll.hpp>
#include <nvshmem.h>
#include <shmem.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace {

template <class Call> double nanoseconds(const Call& call) {
    using Clock = std::chrono::steady_clock;
    constexpr int rounds = 60, calls = 20000;
    double least = 1e9;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = Clock::now();
        for (int i = 0; i < calls; ++i) {
            call();
            asm volatile("" ::: "memory");
        }
        const std::chrono::duration<double, std::nano> taken = Clock::now() - begin;
        least = std::min(least, taken.count() / calls);
    }
    return least;
}

template <class A, class B, class C> void row(const char* name, const A& cpp, const B& c, const C& nvshmem) {
    const double of_cpp = nanoseconds(cpp), of_c = nanoseconds(c), of_nvshmem = nanoseconds(nvshmem);
    std::printf("%-18s C++ %5.1f   shmem.h %5.1f   nvshmem.h %5.1f\n", name, of_cpp, of_c, of_nvshmem);
}

}  // namespace

int main() {
    nvshmem_init();
    shmem_init();
    atoll::init();
    const int right = (nvshmem_my_pe() + 1) % nvshmem_n_pes();
    auto* x = static_cast<long*>(nvshmem_calloc(512, sizeof(long)));
    std::vector<long> local(512);
    volatile long found = 0;
    nvshmem_barrier_all();
    if (nvshmem_my_pe() == 0) {
        long* const y = local.data();
        const std::span<long> there(x, 512), here(local);
        row(
            "p", [&] { atoll::p(x, 5L, right); }, [&] { shmem_long_p(x, 5, right); },
            [&] { nvshmem_long_p(x, 5, right); });
        row(
            "g", [&] { found = atoll::g(x, right); }, [&] { found = shmem_long_g(x, right); },
            [&] { found = nvshmem_long_g(x, right); });
        row(
            "put, 8 B", [&] { atoll::put(there.first(1), here.first(1), right); },
            [&] { shmem_long_put(x, y, 1, right); }, [&] { nvshmem_long_put(x, y, 1, right); });
        row(
            "put, 4 KiB", [&] { atoll::put(there, here, right); }, [&] { shmem_long_put(x, y, 512, right); },
            [&] { nvshmem_long_put(x, y, 512, right); });
        row(
            "get, 8 B", [&] { atoll::get(here.first(1), there.first(1), right); },
            [&] { shmem_long_get(y, x, 1, right); }, [&] { nvshmem_long_get(y, x, 1, right); });
        row(
            "atomic_add", [&] { atoll::atomic_add(x, 1L, right); },
            [&] { shmem_long_atomic_add(x, 1, right); }, [&] { nvshmem_long_atomic_add(x, 1, right); });
        row(
            "atomic_fetch_add", [&] { found = atoll::atomic_fetch_add(x, 1L, right); },
            [&] { found = shmem_long_atomic_fetch_add(x, 1, right); },
            [&] { found = nvshmem_long_atomic_fetch_add(x, 1, right); });
        row(
            "quiet", [&] { atoll::quiet(); }, [&] { shmem_quiet(); }, [&] { nvshmem_quiet(); });
    }
    nvshmem_barrier_all();
    nvshmem_free(x);
    atoll::finalize();
    shmem_finalize();
    nvshmem_finalize();
    return 0;
}
