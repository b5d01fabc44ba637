// HangWatch: finds that all PEs wait, or that some sleep or work for long while others wait. For jobs that no
// launcher of ours watches: the waiting PEs check themselves.
#pragma once

#include "bootstrap/bootstrap.hpp"
#include "common/board/board.hpp"
#include "core/hang/sleep_watch.hpp"
#include "core/hang/standstill.hpp"

#include <cstdint>
#include <mutex>
#include <optional>

namespace atl::core {

class HangWatch {
  public:
    /// Call every 50 ms or so in a wait. One PE at a time checks, and one PE reports a standstill on standard
    /// error, once. Each further standstill is reported only if it lasts twice as long as the one before: a
    /// program may have long waits. PEs that do not wait are reported once a job, if all run on this host.
    /// `limit_s` is ATOLL_STALL_WARN; 0 means never. `job` is null for a board
    /// whose PEs all run on this host.
    void check(bootstrap::Bootstrap* job, const common::BoardView& board, double limit_s) noexcept;

  private:
    bool takes_turn(common::BoardHeader& header, std::uint64_t now_ns);
    void check_board(bootstrap::Bootstrap* job, const common::BoardView& board, double limit_s, double now_s);
    void check_sleepers(const common::BoardView& board, double limit_s, double now_s);
    static void report(bootstrap::Bootstrap* job, const common::BoardView& board, std::uint64_t picture,
                       double limit_s);

    std::mutex mutex_;               // threads of the PE may wait at once; guards all below
    std::uint64_t my_check_ns_ = 1;  ///< the last check by this PE; 1: none
    double next_s_ = 0;
    Standstill standstill_{Standstill::of_waits};
    std::optional<SleepWatch> sleep_;
    const common::BoardHeader* board_ = nullptr;  ///< board at the last check
};

}  // namespace atl::core
