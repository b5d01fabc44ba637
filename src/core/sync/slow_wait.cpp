// The slow part of a wait, after the spin.
#include "atoll/detail/wait.hpp"

#include "common/clock.hpp"
#include "common/elf/call_site.hpp"
#include "common/futex.hpp"
#include "common/pe_ranges.hpp"
#include "common/text.hpp"
#include "common/wait_hooks.hpp"
#include "core/calls/call_text.hpp"
#include "core/hang/cause.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/exited_pes.hpp"
#include "core/sync/job_over.hpp"
#include "core/sync/wait_on_board.hpp"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

namespace atl::detail {

namespace {

constexpr int yields = 50;
constexpr std::uint64_t first_sleep_ns = 50'000;  // no store wakes a sleeper on a user's word: short
constexpr std::uint64_t longest_sleep_ns = 1'000'000;
constexpr std::uint64_t first_futex_sleep_ns = 625'000;
constexpr std::uint64_t futex_sleep_ns =
    20'000'000;  // the setter wakes the sleeper; this bounds the detection of a death
constexpr std::uint64_t poll_interval_ns = 50'000'000;

std::string value_text(std::uint64_t value, const WaitReason& reason) {
    if (reason.word_floating) return common::floating_text(value, reason.word_bytes);
    if (!reason.word_signed) return std::to_string(value);
    switch (reason.word_bytes) {
        case 1:
            return std::to_string(static_cast<std::int8_t>(value));
        case 2:
            return std::to_string(static_cast<std::int16_t>(value));
        case 4:
            return std::to_string(static_cast<std::int32_t>(value));
        default:
            return std::to_string(static_cast<std::int64_t>(value));
    }
}

/// Returns a text such as "signal_wait_until on heap+0x40: found 3, waiting for >= 4" or "barrier of team 2".
std::string describe(const core::JobState& job, const WaitReason& reason, std::uint64_t found) {
    std::string text = job.recorder->called_name(reason.operation);
    if (reason.team != 0) text += " of team " + std::to_string(reason.team);
    if (reason.word) {
        const std::string name = core::name_of(job, reason.word);
        text += " on " + (name.empty() ? common::offset_text(core::word_offset(job, reason.word)) : name);
    }
    if (reason.word_bytes != 0)
        text += ": found " + value_text(found, reason) + ", waiting for " +
                common::compare_sign(static_cast<std::uint32_t>(reason.compare)) + " " +
                value_text(reason.expected, reason);
    if (reason.peer >= 0) text += ", waiting for PE " + std::to_string(reason.peer);
    if (reason.tag != 0) text += ", tag " + std::to_string(reason.tag);
    return text;
}

/// Names the operation of distributed arrays or objects that makes the call: "sum (its max_reduce)".
std::string within_call(const std::string& call, void* hook_state) {
    if (!common::wait_hooks().enter) return call;
    const std::string site = common::call_site(hook_state);
    const std::string_view outer = core::call_of_site(site);
    if (outer.empty()) return call;
    const std::size_t end = std::min(call.find_first_of(" ,:"), call.size());
    return std::string(outer) + " (its " + call.substr(0, end) + ")" + call.substr(end);
}

}  // namespace

SlowWait::SlowWait(core::JobState& job, const WaitReason& reason, double timeout_s)
    : job_(job), reason_(reason), start_ns_(common::now_ns()), exceptions_(std::uncaught_exceptions()) {
    if (!reason.to_its_end) bound_by(timeout_s);
    last_poll_ns_ = start_ns_;
    if (job.meter) is_measured_ = job.meter->begin_wait();
    if (job.recorder->log) began_ticks_ = job.recorder->log->now();
    job.waits().enter();
    if (common::wait_hooks().enter) {
        hook_state_ = common::wait_hooks().enter();
        hooked_ = true;
    }
}

void SlowWait::bound_by(double timeout_s) {
    if (timeout_s < 0) {
        const common::Settings& settings = job_.settings();
        starts_ = job_.waits().at_start.are_this_threads();
        variable_ = starts_ ? "ATOLL_INIT_TIMEOUT" : "ATOLL_WAIT_TIMEOUT";
        timeout_s = starts_ ? settings.init_timeout_s : settings.wait_timeout_s;
        // All PEs of such waits have found each other, and none can end unseen. A PE that does much work
        // before init may take its time.
        const bool is_free = starts_ && (!settings.init_timeout_given || job_.waits().at_start.are_watched());
        if (timeout_s <= 0 || is_free) return;
    }
    deadline_ns_ = start_ns_ + std::max<std::uint64_t>(common::timeout_ns(timeout_s), 1);
}

/// Adds the wait to the PE's log, within the call that waits.
void SlowWait::log(bool failed) const noexcept {
    common::EventLog& log = *job_.recorder->log;
    common::LoggedEvent event;
    event.kind = common::EventKind::wait;
    event.state = failed ? common::EventState::failed : common::EventState::ended;
    event.operation = common::operation_number(reason_.operation);
    event.peer = reason_.peer;
    const auto [team, call] = job_.recorder->current_call();
    event.team = team;
    event.call = call;
    event.offset = reason_.word_bytes != 0 ? core::word_offset(job_, reason_.word) : 0;
    event.value = reason_.expected;
    event.began = began_ticks_;
    event.ended = log.now();
    event.waiting = event.ended - event.began;
    if (shown_) event.site = log.site_number();
    log.add(event);
}

SlowWait::~SlowWait() {
    const bool failed = std::uncaught_exceptions() > exceptions_;
    if (shown_) shown_->hide(failed);
    if (hooked_) common::wait_hooks().leave(hook_state_);
    if (is_measured_) job_.meter->end_wait();
    if (job_.recorder->log) log(failed);
    job_.waits().leave();  // last: finalize in another thread may now destroy the job
}

bool SlowWait::yielded() {
    if (const auto& transport = job_.transport(); transport && transport->progress()) {
        round_ = 0;  // more requests to this PE are likely to follow
        if ((++moves_ & 63) == 0) check();
        return true;
    }
    if (round_ == 0 && !job_.waits().yields.allows()) round_ = yields;
    if (round_++ >= yields) return false;
    // Checks the abort word here too: the end of a job should not wait for the first sleep.
    if ((round_ & 15) == 0) check();
    if (!job_.waits().yields.yield()) round_ = yields;
    return true;
}

void SlowWait::pause() {
    if (yielded()) return;
    check();
    publish();
    const int shift = std::min((round_ - yields) / 20, 5);
    const std::uint64_t sleep_ns = std::min(first_sleep_ns << shift, longest_sleep_ns);
    if (const auto& transport = job_.transport(); transport && transport->sleep(sleep_ns)) return;
    timespec t{0, static_cast<long>(sleep_ns)};
    ::nanosleep(&t, nullptr);
}

void SlowWait::pause_on(Flag& flag, std::uint32_t seen) {
    if (yielded()) return;
    check();
    publish();
    if (reason_.check) reason_.check(reason_.argument, hook_state_);
    flag.sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint64_t sleep = job_.transport() ? longest_sleep_ns : futex_sleep_ns;
    if (flag.value.load(std::memory_order_seq_cst) == seen)
        common::futex_wait(flag.value, seen, until_deadline(sleep));
    flag.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

bool SlowWait::must_sleep() {
    if (yielded()) return false;
    check();
    publish();
    return true;
}

void SlowWait::sleep_on(std::atomic<std::uint32_t>& word, std::uint32_t seen) {
    // Setters of such words check for sleepers without a full barrier. A sleeper that was missed sleeps only
    // briefly.
    const std::uint64_t longest = job_.transport() ? longest_sleep_ns : futex_sleep_ns;
    common::futex_wait(word, seen,
                       until_deadline(std::min(first_futex_sleep_ns << std::min(sleeps_++, 5), longest)));
}

std::uint64_t SlowWait::until_deadline(std::uint64_t sleep_ns) const {
    if (deadline_ns_ == 0) return sleep_ns;
    const std::uint64_t now = common::now_ns();
    return now >= deadline_ns_ ? 1 : std::min(sleep_ns, deadline_ns_ - now);
}

void SlowWait::check() {
    if (job_.waits().is_over())
        throw Error(ErrorCode::not_initialized, "Another thread of this PE finalized the job during " +
                                                    describe(job_, reason_, current_value()) +
                                                    "; end the threads that wait before finalize.");
    const auto& header = job_.board().header();
    if (header.abort.load(std::memory_order_acquire) != 0)
        core::throw_over(job_, describe(job_, reason_, current_value()));
    if (header.exited.load(std::memory_order_acquire) != 0) check_exited();
    const std::uint64_t now = common::now_ns();
    if (deadline_ns_ != 0 && now >= deadline_ns_) fail_timeout();
    if (now - last_poll_ns_ < poll_interval_ns) return;
    last_poll_ns_ = now;
    if (shown_) publish();
    // Without a launcher PE 0 detects deaths. Once it has ended, waiting PEs do so themselves.
    if (const int first = 0; core::ExitedPes::among(job_, &first, 1)) job_.board().mark_dead();
    // PEs that are still in init do not answer one another.
    if (!job_.waits().at_start.are_this_threads())
        job_.waits().hang_watch.check(&job_.bootstrap(), job_.board(), job_.settings().stall_warn_s);
    if (hooked_ && !reason_.to_its_end && common::wait_hooks().interrupted(hook_state_))
        throw Error(ErrorCode::interrupted,
                    "Interrupted while waiting: " + describe(job_, reason_, current_value()) + ".");
}

std::uint64_t SlowWait::current_value() const {
    const void* word = reason_.value ? reason_.value : reason_.word;
    switch (reason_.word_bytes) {
        case 1:
            return atomic_load(static_cast<const std::uint8_t*>(word));
        case 2:
            return atomic_load(static_cast<const std::uint16_t*>(word));
        case 4:
            return atomic_load(static_cast<const std::uint32_t*>(word));
        case 8:
            return atomic_load(static_cast<const std::uint64_t*>(word));
        default:
            return 0;
    }
}

void SlowWait::publish() {
    if (!shown_)
        shown_ = std::make_unique<core::WaitOnBoard>(job_, reason_, start_ns_, common::HostWait::sleeps);
    shown_->show(hook_state_, current_value());
}

bool SlowWait::show() {
    publish();
    return hooked_ && common::wait_hooks().interrupted(hook_state_);
}

void SlowWait::fail_timeout() {
    char seconds[32];
    const std::uint64_t waited_ns = deadline_ns_ - start_ns_;  // 1 means 0
    std::snprintf(seconds, sizeof seconds, "%.3g",
                  waited_ns == 1 ? 0 : static_cast<double>(waited_ns) * 1e-9);
    std::string text =
        "Timed out after " + std::string(seconds) + " s in " + describe(job_, reason_, current_value());
    const std::vector<int> not_started = starts_ ? job_.not_started() : std::vector<int>();
    int pes[16];
    if (!not_started.empty()) {
        text += (not_started.size() == 1 ? "; not yet started: PE " : "; not yet started: PEs ") +
                common::pe_ranges(not_started);
    } else if (reason_.missing) {
        const int n = reason_.missing(reason_.argument, pes, 16);
        if (n > 0) text += std::string("; ") + reason_.missing_as + (n == 1 ? " is PE" : " are PEs");
        for (int i = 0; i < n; ++i) text += (i ? ", " : " ") + std::to_string(pes[i]);
    }
    text += ". Give this wait more time";
    if (variable_) text += std::string(": raise ") + variable_;
    throw Error(ErrorCode::timeout,
                text + ", or find out why the awaited update did not come." + cause_text(waited_ns));
}

/// The cause of a time-out, from the job board. Empty after a short wait, whose caller may only poll.
std::string SlowWait::cause_text(std::uint64_t waited_ns) {
    constexpr std::uint64_t short_ns = 1'000'000'000;
    // The waits of PEs on other hosts are not on this board.
    if (waited_ns < short_ns || job_.topology().hosts().n_domains > 1) return {};
    publish();
    const core::Cause cause = core::find_cause(job_.board().all_doing());
    return cause.sentence.empty() ? "" : " Cause: " + cause.sentence + ".";
}

/// Throws if a PE that this wait needs has ended. Its last writes may still be in flight to the caller. So
/// when the end is first seen, the caller tests its condition once more.
void SlowWait::check_exited() {
    int pes[64];
    int n = 0;
    if (reason_.missing)
        n = reason_.missing(reason_.argument, pes, 64);
    else if (reason_.peer >= 0)
        pes[n++] = reason_.peer;
    const bool any_pe = !reason_.missing && reason_.peer < 0;
    const auto exited =
        any_pe ? core::ExitedPes::with_all_others(job_) : core::ExitedPes::among(job_, pes, n);
    if (!exited) return;
    if (exited_since_ns_ == 0) {
        exited_since_ns_ = common::now_ns();
        return;
    }
    const bool runs_out = deadline_ns_ != 0 && common::now_ns() >= deadline_ns_;
    if (!runs_out && !exited.is_final(exited_since_ns_)) return;
    // Its own init ends only after all PEs have begun theirs.
    const bool initialized = std::strcmp(reason_.operation, "init") != 0;
    const auto [team, call] = job_.recorder->current_call();
    throw Error(ErrorCode::pe_died, (call != 0 ? exited.text_in_call() : exited.text(initialized)) +
                                        std::string(core::cannot_end) +
                                        within_call(describe(job_, reason_, current_value()), hook_state_) +
                                        "." + exited.calls_text(team, call));
}

}  // namespace atl::detail
