#include "core/hang/hang_watch.hpp"

#include "common/clock.hpp"
#include "common/log.hpp"
#include "core/hang/cause.hpp"
#include "core/hang/launcher_report.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <unistd.h>
#include <utility>
#include <vector>

namespace atl::core {

namespace {

/// A PE that has not checked for this long waits no longer, or was stopped. Another PE then takes over.
constexpr std::uint64_t lapse_ns = 400'000'000;
/// Upper limit of the interval of checks over several hosts; each check sends a message to every PE there.
constexpr double longest_interval_s = 10;
constexpr double patience_s = 0.2, patience_for_report_s = 1;

std::vector<common::PeDoing> all_doing(bootstrap::Bootstrap* job, const common::BoardView& board,
                                       double patience, bool with_calls) {
    return job != nullptr ? job->all_doing(board, patience, with_calls) : board.all_doing(with_calls);
}

}  // namespace

void HangWatch::check(bootstrap::Bootstrap* job, const common::BoardView& board, double limit_s) noexcept {
    if (limit_s <= 0 || (job != nullptr && !job->sees_all())) return;
    const std::unique_lock guard(mutex_, std::try_to_lock);
    if (!guard) return;
    if (std::exchange(board_, &board.header()) != &board.header()) {
        my_check_ns_ = 1;
        sleep_.reset();
    }
    const std::uint64_t now_ns = common::now_ns();
    if (!takes_turn(board.header(), now_ns)) return;
    const double now_s = static_cast<double>(now_ns) * 1e-9;
    if (now_s < next_s_) return;
    try {
        check_board(job, board, limit_s, now_s);
    } catch (const std::exception&) {  // without memory there is no report
        standstill_.restart(now_s);
    }
}

/// True if this PE is the one that checks. The standstill begins again if it was not, or was stopped.
bool HangWatch::takes_turn(common::BoardHeader& header, std::uint64_t now_ns) {
    std::uint64_t last = header.checked_ns.load(std::memory_order_relaxed);
    const bool was_mine = last == my_check_ns_;
    const bool has_lapsed = now_ns > last + lapse_ns;
    if (!was_mine && !has_lapsed) return false;
    if (!header.checked_ns.compare_exchange_strong(last, now_ns, std::memory_order_relaxed)) return false;
    my_check_ns_ = now_ns;
    constexpr std::uint64_t stopped_ns = 1'000'000'000;
    if (!was_mine || now_ns > last + stopped_ns) {
        const double now_s = static_cast<double>(now_ns) * 1e-9;
        standstill_.restart(now_s);
        if (sleep_) sleep_->restart(now_s);
        next_s_ = 0;
    }
    return true;
}

void HangWatch::check_board(bootstrap::Bootstrap* job, const common::BoardView& board, double limit_s,
                            double now_s) {
    constexpr std::uint32_t most_doublings = 16;
    const std::uint32_t n_reports =
        std::min(board.header().n_reports.load(std::memory_order_acquire), most_doublings);
    const double limit_now_s = limit_s * static_cast<double>(1U << n_reports);
    next_s_ = now_s + stall_interval_s(limit_now_s, longest_interval_s);
    if (job == nullptr) board.mark_dead();
    const std::vector<common::PeDoing> doing =
        board.may_all_wait() ? all_doing(job, board, patience_s, false) : std::vector<common::PeDoing>();
    const WaitsOfAll waits = waits_of(doing);
    const double passed_s = standstill_.seconds(doing, waits.picture, waits.are_all(), now_s);
    if (passed_s > 0 && passed_s >= limit_now_s) report(job, board, waits.picture, limit_now_s);
    if (!waits.are_all()) check_sleepers(board, limit_s, now_s);
}

/// The launcher's program asks these PEs for their lines. Without it the report lacks them.
void HangWatch::check_sleepers(const common::BoardView& board, double limit_s, double now_s) {
    if (!sleep_) sleep_.emplace(limit_s, ::isatty(STDIN_FILENO) != 0, false);
    std::atomic<std::uint32_t>& reported = board.header().reported_sleep;
    if (!sleep_->is_due(now_s) || reported.load(std::memory_order_relaxed) != 0) return;
    for (int pe = 0; pe < board.n_pes(); ++pe)
        if (board.entry(pe).pid.load(std::memory_order_acquire) == common::pid_elsewhere &&
            board.state(pe) < common::PeState::finalized)
            return;
    if (!sleep_->update(board.all_doing(false), now_s)) return;
    if (reported.exchange(1, std::memory_order_relaxed) != 0) return;
    const std::string heading = sleep_->text_of_waits() + "; what the PEs are doing";
    if (!report_by_launcher(heading, board.header().path))
        common::say(report_of(board.all_doing(), heading, "atoll: "));
}

/// Reports a standstill that is still the same, and that no PE has reported.
void HangWatch::report(bootstrap::Bootstrap* job, const common::BoardView& board, std::uint64_t picture,
                       double limit_s) {
    common::BoardHeader& header = board.header();
    std::uint64_t before = header.reported_waits.load(std::memory_order_acquire);
    if (before == picture) return;
    const std::vector<common::PeDoing> doing = all_doing(job, board, patience_for_report_s, true);
    const WaitsOfAll waits = waits_of(doing);
    if (!waits.are_all() || waits.picture != picture) return;
    if (!header.reported_waits.compare_exchange_strong(before, picture, std::memory_order_acq_rel)) return;
    header.n_reports.fetch_add(1, std::memory_order_acq_rel);
    common::say(report_of(doing, stall_heading(limit_s), "atoll: "));
}

}  // namespace atl::core
