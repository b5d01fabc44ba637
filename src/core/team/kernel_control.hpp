// Control blocks of teams for kernels (atoll/device/control.hpp): assignment of places, and the fields that
// the host writes.
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

/// This PE's control block of a team in that memory, filled in for kernels. Throws Error(unsupported): no
/// place for the team, or too many members.
device::Control* kernel_control(TeamState& team, Memory memory);
/// The first member that only a transport reaches, or -1.
int first_far(const TeamState& team);
/// Throws Error(unsupported) that names such a member. `who` cannot reach it; `instead` can.
void check_near(const TeamState& team, const std::string& who, const std::string& instead);
/// The team as a kernel argument. Throws Error: unsupported, not_initialized (no device heap). `far_too`
/// allows PEs whose device heap only a transport reaches.
device::Team kernel_team(TeamState& team, Memory memory, bool far_too = false);
/// Zeroes a team's blocks on this PE and frees its place. No member may use them any more.
void release_kernel_control(TeamState& team) noexcept;

/// The check made by waiting device functions on the host. Throws Error(pe_died, timeout, not_initialized).
void look_from_host(const device::Watch& watch, const device::Report& waiting, unsigned long long waited_ns);

/// "signal_wait_until".
std::string operation_text(const device::Report& report);
/// "signal_wait_until of team 2 in a kernel: found 3 at 0x…, waiting for >= 4, for PE 1, tag 7".
std::string report_text(const device::Report& report);

}  // namespace atl::core
