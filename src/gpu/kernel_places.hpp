// KernelPlaces: places of teams in memory that kernels use, assigned by all members of a team.
#pragma once

#include <cstdint>
#include <mutex>

namespace atl::gpu {

/// The places of one PE. A new team gets the lowest place that is free on all of its members, which exchange
/// their offers. A place offered to one team is not offered to another that a second thread makes meanwhile:
/// that one may go without.
class KernelPlaces {
  public:
    explicit KernelPlaces(std::uint64_t free) : free_(free) {}
    class Offer {
      public:
        explicit Offer(KernelPlaces& places);
        ~Offer();
        Offer(const Offer&) = delete;
        Offer& operator=(const Offer&) = delete;
        std::uint64_t bits() const { return bits_; }
        /// Takes the lowest place in `common`, which all members offer; -1 if it is empty.
        int take(std::uint64_t common);
        /// Takes the lowest `count` adjacent places in `common`, as bits; 0 if there are not that many.
        std::uint64_t take_run(std::uint64_t common, unsigned count);

      private:
        KernelPlaces& places_;
        std::uint64_t bits_;
    };
    /// Frees a place. Its memory must be zero again.
    void give_back(int place);
    void give_back_run(std::uint64_t places);

  private:
    std::mutex mutex_;
    std::uint64_t free_;
};

/// The lowest run of `count` bits in `bits`, as bits; 0 if there is no such run.
std::uint64_t run_of(std::uint64_t bits, unsigned count);

}  // namespace atl::gpu
