// The slow part of a wait, after the spin.
#include "atoll/detail/wait.hpp"

#include "common/clock.hpp"
#include "common/elf/call_site.hpp"
#include "common/futex.hpp"
#include "common/pe_ranges.hpp"
#include "common/wait_hooks.hpp"
#include "core/hang/cause.hpp"
#include "core/job/job_state.hpp"
#include "core/sync/gone_pes.hpp"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace atl::core {

void wake_sleepers(detail::Flag& flag) noexcept {
    // Fences between the store of the value and the load of `sleepers`. SlowWait::pause_on has the
    // counterparts.
#if defined(__SANITIZE_THREAD__)
    const std::uint32_t sleepers =
        flag.sleepers.fetch_add(0, std::memory_order_seq_cst);  // TSan does not model fences
#else
    // An exchange would take the line away from its readers.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint32_t sleepers = flag.sleepers.load(std::memory_order_relaxed);
#endif
    if (sleepers != 0) common::futex_wake_all(flag.value);
}

}  // namespace atl::core

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

std::uint64_t place_of(const core::JobState& job, const void* word) {
    const auto address = reinterpret_cast<std::uintptr_t>(word);
    const Window& window = job.window();
    if (window.heap_holds(word, 1)) return address - reinterpret_cast<std::uintptr_t>(window.mine);
    if (window.holds(word, 1)) return common::static_place | (address - window.statics.image);
    return common::address_place | address;
}

/// The front's name of a word, else its allocation. Empty if neither is known.
std::string name_of(const core::JobState& job, const void* word) {
    const auto name = common::wait_hooks().name;
    return name != nullptr ? name(word) : job.heap().sites().name(word);
}

/// Copies the end of a text, which says more than the beginning of a long path.
template <std::size_t bytes> void copy_end(const std::string& text, char (&to)[bytes]) {
    const std::size_t length = std::min(text.size(), bytes - 1);
    text.copy(to, length, text.size() - length);
    to[length] = '\0';
}

/// Writes the event of the wait that the job board shows.
void record_event(common::Recorder& recorder, const common::WaitCopy& values, bool is_first) {
    if (is_first) {
        recorder.shown_wait =
            recorder.begin(common::EventKind::wait, common::operation_number(values.operation),
                           values.team_id, values.call, values.peer);
        common::Recorder::set_arguments(recorder.shown_wait, values.offset, values.compare, values.expected,
                                        values.found);
    }
    recorder.set_delay(recorder.shown_wait, values.since_ns, 0, values.site);
}

/// "signal_wait_until on heap+0x40: found 3, waiting for >= 4" or "barrier of team 2".
std::string describe(const core::JobState& job, const WaitReason& reason, std::uint64_t found) {
    std::string text = reason.operation;
    if (reason.team != 0) text += " of team " + std::to_string(reason.team);
    if (reason.word) {
        const std::string name = name_of(job, reason.word);
        text += " on " + (name.empty() ? common::place_text(place_of(job, reason.word)) : name);
    }
    if (reason.word_bytes != 0)
        text += ": found " + value_text(found, reason) + ", waiting for " +
                common::compare_sign(static_cast<std::uint32_t>(reason.compare)) + " " +
                value_text(reason.expected, reason);
    if (reason.peer >= 0) text += ", waiting for PE " + std::to_string(reason.peer);
    return text;
}

}  // namespace

SlowWait::SlowWait(core::JobState& job, const WaitReason& reason, double timeout_s)
    : job_(job), reason_(reason), start_ns_(common::now_ns()) {
    if (!reason.to_its_end) bound_by(timeout_s);
    last_poll_ns_ = start_ns_;
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
    const auto bound_ns = static_cast<std::uint64_t>(std::min(timeout_s, 1e9) * 1e9);
    deadline_ns_ = start_ns_ + std::max<std::uint64_t>(bound_ns, 1);
}

SlowWait::~SlowWait() {
    if (published_) {
        auto& record = job_.board().entry(job_.pe()).wait;
        common::Recorder& recorder = *job_.recorder;
        common::Recorder::set_state(recorder.shown_wait, common::EventState::ended);
        recorder.set_delay(recorder.shown_wait, start_ns_, common::now_ns(), record.site);
        record.sequence.fetch_add(2, std::memory_order_release);
        record.active.store(0, std::memory_order_release);
    }
    if (hooked_) common::wait_hooks().leave(hook_state_);
    job_.waits().leave();
}

bool SlowWait::yielded() {
    if (auto* transport = job_.transport(); transport && transport->progress()) {
        round_ = 0;  // more requests to this PE are likely to follow
        if ((++moves_ & 63) == 0) check();
        return true;
    }
    if (round_++ >= yields) return false;
    // Checks the abort word here too: the end of a job should not wait for the first sleep.
    if ((round_ & 15) == 0) check();
    ::sched_yield();
    return true;
}

void SlowWait::pause() {
    if (yielded()) return;
    check();
    publish();
    const int shift = std::min((round_ - yields) / 20, 5);
    const std::uint64_t sleep_ns = std::min(first_sleep_ns << shift, longest_sleep_ns);
    if (auto* transport = job_.transport(); transport && transport->sleep(sleep_ns)) return;
    timespec t{0, static_cast<long>(sleep_ns)};
    ::nanosleep(&t, nullptr);
}

void SlowWait::pause_on(Flag& flag, std::uint32_t seen) {
    if (yielded()) return;
    check();
    publish();
    if (reason_.look) reason_.look(reason_.argument, hook_state_);
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
        throw Error(ErrorCode::pe_died, std::string(header.abort_text) + " (noticed in " +
                                            describe(job_, reason_, current_value()) + ")");
    if (header.gone.load(std::memory_order_acquire) != 0) check_gone();
    const std::uint64_t now = common::now_ns();
    if (deadline_ns_ != 0 && now >= deadline_ns_) fail_timeout();
    if (now - last_poll_ns_ < poll_interval_ns) return;
    last_poll_ns_ = now;
    if (published_) publish();
    if (const int first = 0; core::Gone::among(job_, &first, 1)) look_for_dead();
    if (hooked_ && !reason_.to_its_end && common::wait_hooks().interrupted(hook_state_))
        throw Error(ErrorCode::interrupted,
                    "Interrupted while waiting: " + describe(job_, reason_, current_value()) + ".");
}

/// Without a launcher PE 0 detects deaths. Once it has ended, waiting PEs look themselves.
void SlowWait::look_for_dead() {
    const auto& board = job_.board();
    for (int pe = 0; pe < job_.n_pes(); ++pe)
        if (board.state(pe) == common::PeState::running && board.process_ended(pe))
            board.set_state(pe, common::PeState::died);
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
    auto& entry = job_.board().entry(job_.pe());
    auto& record = entry.wait;
    common::WaitCopy values;
    const bool is_first = !published_;
    if (!is_first) {
        std::memcpy(values.name, record.name, sizeof values.name);
        std::memcpy(values.site, record.site, sizeof values.site);
        // Only now: debug information is read slowly, and most waits have ended.
        if (values.name[0] == '\0' && reason_.word != nullptr)
            name_of(job_, reason_.word).copy(values.name, sizeof values.name - 1);
        if (values.site[0] == '\0') {
            const std::string site = common::call_site(hook_state_);
            copy_end(site.substr(site.rfind('/') + 1),
                     values.site);  // the folder would only lengthen a report
        }
    } else {
        // One of several waiting threads is shown; when its wait ends, another takes the record.
        std::uint32_t nobody = 0;
        if (!record.active.compare_exchange_strong(nobody, 1, std::memory_order_acq_rel)) return;
        entry.waits.fetch_add(1, std::memory_order_relaxed);
        published_ = true;
        if (reason_.word != nullptr && common::wait_hooks().name != nullptr)
            name_of(job_, reason_.word).copy(values.name, sizeof values.name - 1);
    }
    values.active = 1;
    std::strncpy(values.operation, reason_.operation, sizeof values.operation - 1);
    values.team = reason_.team;
    values.peer = values.missing[0] = reason_.peer;
    if (reason_.missing) {
        const int n = reason_.missing(reason_.argument, values.missing, common::WaitRecord::most_missing);
        if (n < common::WaitRecord::most_missing) values.missing[n] = -1;
        values.peer = values.missing[0];
    }
    values.has_value = reason_.word_bytes != 0;
    values.offset = values.has_value ? place_of(job_, reason_.word) : ~std::uint64_t{0};
    values.expected = reason_.expected;
    values.found = current_value();
    values.compare = static_cast<std::uint32_t>(reason_.compare);
    values.since_ns = start_ns_;
    const auto [team_id, call] = job_.recorder->current_call();
    values.team_id = team_id;
    values.call = call;
    common::write_wait(record, values);
    record_event(*job_.recorder, values, is_first);
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
void SlowWait::check_gone() {
    int pes[64];
    int n = 0;
    if (reason_.missing)
        n = reason_.missing(reason_.argument, pes, 64);
    else if (reason_.peer >= 0)
        pes[n++] = reason_.peer;
    const bool anybody = !reason_.missing && reason_.peer < 0;
    const auto gone = anybody ? core::Gone::with_all_others(job_) : core::Gone::among(job_, pes, n);
    if (!gone) return;
    if (gone_since_ns_ == 0) {
        gone_since_ns_ = common::now_ns();
        return;
    }
    if (!gone.is_final(gone_since_ns_)) return;
    // Its own init ends only after all PEs have begun theirs.
    const bool initialized = std::strcmp(reason_.operation, "init") != 0;
    throw Error(ErrorCode::pe_died, gone.text(initialized) + ", so this cannot end: " +
                                        describe(job_, reason_, current_value()) + ".");
}

}  // namespace atl::detail
