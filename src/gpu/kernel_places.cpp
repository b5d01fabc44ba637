#include "gpu/kernel_places.hpp"

#include <bit>
#include <utility>

namespace atl::gpu {

KernelPlaces::Offer::Offer(KernelPlaces& places) : places_(places) {
    const std::lock_guard lock(places_.mutex_);
    bits_ = std::exchange(places_.free_, 0);
}

KernelPlaces::Offer::~Offer() {
    const std::lock_guard lock(places_.mutex_);
    places_.free_ |= bits_;
}

int KernelPlaces::Offer::take(std::uint64_t common) {
    if (common == 0) return -1;
    const int place = std::countr_zero(common);
    bits_ &= ~(std::uint64_t{1} << place);
    return place;
}

std::uint64_t run_of(std::uint64_t bits, unsigned count) {
    if (count == 0 || count > 64) return 0;
    std::uint64_t starts = bits;  // positions from which `count` bits follow
    for (unsigned i = 1; i < count && starts != 0; ++i) starts &= bits >> i;
    if (starts == 0) return 0;
    const std::uint64_t run = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    return run << std::countr_zero(starts);
}

std::uint64_t KernelPlaces::Offer::take_run(std::uint64_t common, unsigned count) {
    const std::uint64_t taken = run_of(common, count);
    bits_ &= ~taken;
    return taken;
}

void KernelPlaces::give_back_run(std::uint64_t places) {
    const std::lock_guard lock(mutex_);
    free_ |= places;
}

void KernelPlaces::give_back(int place) {
    const std::lock_guard lock(mutex_);
    if (place >= 0) free_ |= std::uint64_t{1} << place;
}

}  // namespace atl::gpu
