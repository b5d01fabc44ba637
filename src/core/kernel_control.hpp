// The control blocks of teams for kernels (atoll/device/control.hpp): who has which place, and what the host
// writes into one.
#pragma once

#include "atoll/types.hpp"

#include <cstdint>
#include <mutex>
#include <string>

namespace atl::device {
struct Control;
struct Report;
struct Team;
struct Watch;
}  // namespace atl::device

namespace atl::core {

class JobState;
class TeamState;

/// The places of one PE. A new team's is the lowest that is free on all of its members, who exchange what
/// they offer. What is offered to one team is not offered to another that a second thread makes meanwhile:
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
        /// The team's place, -1 if none is in `common`: what all members offer.
        int take(std::uint64_t common);
        /// The lowest `count` places side by side, as bits; 0 if there are none in `common`.
        std::uint64_t take_run(std::uint64_t common, unsigned count);

      private:
        KernelPlaces& places_;
        std::uint64_t bits_;
    };
    /// Once the place's memory is zero again.
    void give_back(int place);
    void give_back_run(std::uint64_t places);

  private:
    std::mutex mutex_;
    std::uint64_t free_;
};

/// The lowest run of `count` bits in `bits`, as bits; 0: none.
std::uint64_t run_of(std::uint64_t bits, unsigned count);

/// This PE's control block of a team in that memory, filled in for kernels. Throws Error(unsupported): no
/// place for the team, or too many members.
device::Control* kernel_control(TeamState& team, Memory memory);
/// The first member that only a transport reaches; -1: none.
int first_far(const TeamState& team);
/// Throws Error(unsupported) that names it; `who` reach no such PEs, and what does is `instead`.
void check_near(const TeamState& team, const std::string& who, const std::string& instead);
/// The team as kernels take it. Throws Error: unsupported, not_initialized (no device heap). `far_too`: PEs
/// whose device heap a transport reaches are no error.
device::Team kernel_team(TeamState& team, Memory memory, bool far_too = false);
/// Zeroes a team's blocks on this PE and gives its place back. Once no member uses them any more.
void release_kernel_control(TeamState& team) noexcept;

/// The look of those who wait in device functions on the host: throws Error(pe_died, timeout,
/// not_initialized).
void look_from_host(const device::Watch& watch, const device::Report& waiting, unsigned long long waited_ns);

/// "signal_wait_until".
std::string operation_text(const device::Report& report);
/// "signal_wait_until of team 2 in a kernel: found 3 at 0x…, waiting for >= 4, for PE 1, tag 7".
std::string report_text(const device::Report& report);

}  // namespace atl::core
