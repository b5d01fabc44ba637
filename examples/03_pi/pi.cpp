// π as the area under 4 / (1 + x²) from 0 to 1: every PE adds up its share of the strips, a reduction adds
// the shares.
#include <atoll/atoll.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <span>

int main() {
    atoll::Job& job = atoll::init();
    constexpr long strips = 10'000'000;
    atoll::SymmetricArray<double> area(job, 1);

    for (long i = atoll::my_pe(); i < strips; i += atoll::n_pes()) {
        const double x = (static_cast<double>(i) + 0.5) / strips;
        area[0] += 4 / (1 + x * x) / strips;
    }
    atoll::sum_reduce(area.span(),
                      area.span());  // now every PE has the sum, added in PE order: the same bits everywhere

    const double error = std::abs(area[0] - std::numbers::pi);
    if (atoll::my_pe() == 0) std::printf("pi = %.12f from %ld strips, off by %.1e\n", area[0], strips, error);
    atoll::finalize();
    return error < 1e-10 ? 0 : 1;
}
