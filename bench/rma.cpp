// Large puts and gets between two PEs, by messages or by UCX's own access, as ATOLL_UCX_RMA selects. Prints
// the median time of each size in microseconds. With the argument "busy", PE 1 computes meanwhile; else it
// waits in a call.
//
//     ATOLL_TRANSPORT=ucx ATOLL_UCX_RMA=on UCX_TLS=posix,cma,self atoll run -n 2 build/release/bench/rma
#include <atoll/atoll.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

template <class Call> double median_us(int repeats, Call&& call) {
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        call();
        times.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[static_cast<std::size_t>(repeats / 2)];
}

}  // namespace

int main(int argc, char** argv) {
    const bool busy = argc > 1 && std::strcmp(argv[1], "busy") == 0;
    atl::Job& job = atl::init();
    const std::size_t most = std::size_t{16} << 20;
    atl::SymmetricArray<char> there(job, most);
    atl::SymmetricArray<long> end(job, 1);
    std::vector<char> mine(most, 1);
    std::fill_n(&there[0], most, char(2));
    const atl::Context& ctx = job.context();
    job.world().barrier();
    if (job.my_pe() == 0) {
        for (std::size_t bytes = std::size_t{8} << 10; bytes <= most; bytes *= bytes < 65536 ? 2 : 16) {
            const int repeats = static_cast<int>(std::clamp<std::size_t>((most * 8) / bytes, 12, 400));
            const auto put = [&] {
                ctx.put(&there[0], mine.data(), bytes, 1);
                ctx.quiet();
            };
            const auto get = [&] { ctx.get(mine.data(), &there[0], bytes, 1); };
            put();
            get();
            std::printf("%9zu bytes: put and quiet %9.1f us, get %9.1f us\n", bytes, median_us(repeats, put),
                        median_us(repeats, get));
        }
        ctx.p(&end[0], 1L, 1);
    }
    if (job.my_pe() == 1) {
        const std::atomic_ref<long> word(end[0]);
        while (busy && word.load(std::memory_order_acquire) == 0) {
        }
        ctx.wait_until(&end[0], atl::Compare::ge, 1L);
    }
    job.world().barrier();
    atl::finalize();
}
