// Standstill: since when the waits of all PEs have been the same, while no PE computed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/board/board.hpp"

namespace atl::core {

/// The PEs between init and finalize: those that wait, and those that do not.
struct WaitsOfAll {
    std::uint64_t picture = 0;  ///< a hash of the waits, which changes if one of them makes progress
    bool any = false;           ///< a PE waits, or has a pending operation
    bool has_absent = false;    ///< a PE has not called init: its program may compute before
    std::vector<int> others;    ///< do not wait

    bool are_all() const { return any && others.empty() && !has_absent; }
};
WaitsOfAll waits_of(const std::vector<common::PeDoing>& doing);

class Standstill {
  public:
    /// The largest shares of its time for which a PE may use a CPU: one that waits, and another. CPU time
    /// below `least_s` does not count.
    struct Idle {
        double waiting_share, other_share, least_s;
    };
    /// A PE that only waits polls between its sleeps.
    static constexpr Idle of_waits{0.5, 0.5, 0.1};
    explicit Standstill(const Idle& idle) : idle_(idle) {}

    /// Returns the seconds for which `picture` has been the same, while `is_still` was true at each call.
    /// Time in which a PE was ready and had no core does not count: what it waits for may have come. A tenth
    /// of the time always counts.
    double seconds(const std::vector<common::PeDoing>& doing, std::uint64_t picture, bool is_still,
                   double now_s);
    void restart(double now_s) {
        since_s_ = now_s;
        picture_ = 0;
    }

  private:
    bool computes(const std::vector<common::PeDoing>& doing, double passed_s) const;
    double coreless(const std::vector<common::PeDoing>& doing) const;

    Idle idle_;
    double since_s_ = 0;              ///< when `picture_` was first seen
    std::uint64_t picture_ = 0;       ///< 0: some PE made progress
    std::vector<double> cpu_s_;       ///< CPU time of each PE at `since_s_`
    std::vector<double> coreless_s_;  ///< common::coreless_seconds of each PE then
};

/// The interval of checks for a standstill of `limit_s`.
double stall_interval_s(double limit_s, double longest_s);
/// Returns a text such as "every PE waits and nothing has moved for 1.2 s (ATOLL_STALL_WARN); what the PEs
/// are doing".
std::string stall_heading(double limit_s);

}  // namespace atl::core
