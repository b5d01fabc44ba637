// The same in C++, by functions of our headers that the compiler inlines or does not.
#include <atoll/atoll.hpp>

#include <array>
#include <cstdio>
#include <exception>

int main() {
    const atoll::Job job;
    std::array<long, 4> sum{}, ones{1, 1, 1, 1};
    try {
        if (job.my_pe() == 0)
            job.world().barrier();  // LINE barrier
        else
            job.world().sum_reduce(std::span(sum), std::span<const long>(ones));  // LINE reduce
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
