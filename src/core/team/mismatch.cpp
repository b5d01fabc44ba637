// Members in different calls: detection and report.
//
// Members that meet by the same words find one another's fingerprints there. All of them find a difference in
// the same meeting. They meet once more to exchange their calls, throw, and are in step again.
//
// Members that meet by different words would wait forever. Before a member sleeps, it publishes its meeting.
// If it still waits when it wakes, it reads the other members' publications. The team is then broken.
// Publications remain, so that later members find them.
#include "common/elf/call_site.hpp"
#include "core/base/job_base.hpp"
#include "core/calls/call_text.hpp"
#include "core/team/meetings.hpp"
#include "core/team/team_state.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

namespace atl::core {

namespace {

/// Number of polls for the call site of another member's call, after a difference was found.
constexpr int site_polls = 300;
constexpr long site_pause_ns = 1'000'000;

using LineWords = std::array<std::uint64_t, CallLine::words>;

LineWords words_of(const CallLine& line) {
    LineWords words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = line.record[i].load(std::memory_order_relaxed);
    return words;
}

std::string site_of(const CallLine& line) {
    std::string site;
    for (const std::atomic<char>& letter : line.site) {
        const char read = letter.load(std::memory_order_relaxed);
        if (read == '\0') break;
        site += read;
    }
    return site;
}

CallRecord record_of(const Called& call) {
    const auto& [a, b, c, d] = call.values();
    return call_record(call.operation(), a, b, c, d);
}

}  // namespace

/// A copy of the call that a member has published.
struct Meetings::Published {
    int member = 0;
    std::uint32_t meeting = 0;  ///< 0: nothing published
    std::uint32_t call = 0;
    Kind kind = Kind::sync;
    CallRecord record;
    std::string site;  ///< empty if unknown

    static Published read(const CallLine& line, int member) {
        Published read;
        read.member = member;
        const std::uint32_t before = line.sequence.load(std::memory_order_acquire);
        read.meeting = line.meeting.load(std::memory_order_relaxed);
        read.call = line.call.load(std::memory_order_relaxed);
        read.kind = static_cast<Kind>(line.kind.load(std::memory_order_relaxed));
        read.record = std::bit_cast<CallRecord>(words_of(line));
        const bool sited = line.sited.load(std::memory_order_acquire) == read.meeting;
        std::atomic_thread_fence(std::memory_order_acquire);
        if ((before & 1) != 0 || line.sequence.load(std::memory_order_relaxed) != before) read.meeting = 0;
        if (sited && read.meeting != 0) read.site = site_of(line);
        return read;
    }
    bool differs_from(const Published& other) const {
        return call != other.call || std::memcmp(&record, &other.record, sizeof record) != 0;
    }
};

CallLine& Meetings::own_call_line() {
    const Spread* spread = team_.spread();
    return spread ? spread->local().member(spread->local_index(my_pe_)).called : member(my_pe_).called;
}

void Meetings::publish(const Called& call) {
    const auto words = std::bit_cast<LineWords>(record_of(call));
    CallLine& line = own_call_line();
    line.sequence.fetch_add(1, std::memory_order_acq_rel);
    line.meeting.store(meeting(), std::memory_order_relaxed);
    line.call.store(fingerprint_of(call), std::memory_order_relaxed);
    line.kind.store(static_cast<std::uint32_t>(kind_), std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) line.record[i].store(words[i], std::memory_order_relaxed);
    line.sequence.fetch_add(1, std::memory_order_release);
}

void Meetings::publish_site(void* hook_state) {
    CallLine& line = own_call_line();
    const std::string site = common::call_site(hook_state);
    const std::size_t bytes = std::min(site.size(), std::size(line.site) - 1);
    // The end of a long path says more than its beginning.
    const char* from = site.data() + (site.size() - bytes);
    for (std::size_t i = 0; i < bytes; ++i) line.site[i].store(from[i], std::memory_order_relaxed);
    line.site[bytes].store('\0', std::memory_order_relaxed);
    line.sited.store(line.meeting.load(std::memory_order_relaxed), std::memory_order_release);
}

std::vector<Meetings::Published> Meetings::all_published() {
    std::vector<Published> all;
    const Spread* spread = team_.spread();
    if (!spread) {
        for (int i = 0; i < n_pes_; ++i) all.push_back(Published::read(member(i).called, i));
        return all;
    }
    std::vector<CallLine> lines(static_cast<std::size_t>(n_pes_));
    spread->complete_on(lines, [&] {
        for (int i = 0; i < n_pes_; ++i)
            if (!spread->is_local(i))
                spread->get(spread->first_of_part(i), spread->call_offset(i),
                            &lines[static_cast<std::size_t>(i)], sizeof(CallLine));
    });
    for (int i = 0; i < n_pes_; ++i)
        all.push_back(Published::read(spread->is_local(i)
                                          ? spread->local().member(spread->local_index(i)).called
                                          : lines[static_cast<std::size_t>(i)],
                                      i));
    return all;
}

void Meetings::fail_mismatch(const Called& call) {
    // Waits of this report publish nothing: that would overwrite it.
    Meetings& near = team_.spread() ? team_.spread()->local().meetings() : *this;
    publish(call);
    publish_site(nullptr);
    reporting_ = near.reporting_ = true;
    const auto meet_all = [&] { static_cast<void>(meets_alike(call, 0)); };
    meet_all();
    const std::vector<Published> all = all_published();
    meet_all();  // the published data remain until other hosts have read them
    own_call_line().meeting.store(0, std::memory_order_relaxed);
    reporting_ = near.reporting_ = false;
    for (const Published& other : all)
        if (other.differs_from(all.front())) throw_mismatch(all.front(), other);
    // Different fingerprints mean different calls; the only remaining case is a line that could not be read.
    throw_mismatch(all.front(), all.back());
}

void Meetings::check_for_mismatch(const void* waiting, void* hook_state) {
    const auto& wait = *static_cast<const Waiting*>(waiting);
    Meetings& self = wait.meetings;
    self.check_thread(wait.call.operation());
    if (self.compared_ != 0 && !self.reporting_) {
        if (self.own_call_line().meeting.load(std::memory_order_relaxed) != self.meeting())
            return self.publish(wait.call);
        self.compare_waiting(hook_state);
    }
    if (!self.team_.spread()) check_for_failed(wait);
}

/// Throws if the awaited member's own call ended by an error: it never arrives.
void Meetings::check_for_failed(const Waiting& wait) {
    Meetings& self = wait.meetings;
    const TeamState& team = self.team_;
    // It may have arrived before it failed. Its stores before `failed` are then visible.
    const auto never_comes = [&](int i) {
        if (self.member(i).called.failed.load(std::memory_order_acquire) == 0) return false;
        if (detail::reached(wait.flag.value.load(std::memory_order_acquire), wait.value)) return false;
        if (wait.peer >= 0) return true;
        std::vector<int> missing(static_cast<std::size_t>(self.n_pes_));
        const int n = wait.missing(&wait, missing.data(), self.n_pes_);
        return std::find(missing.begin(), missing.begin() + n, team.world_pe(i)) != missing.begin() + n;
    };
    const int first = std::max(wait.peer, 0);
    const int end = wait.peer >= 0 ? wait.peer + 1 : self.n_pes_;
    for (int i = first; i < end; ++i) {
        if (i == self.my_pe_ || !never_comes(i)) continue;
        const std::string pe = "PE " + std::to_string(team.world_pe(i));
        std::string text = wait.call.operation();
        text.append(" of ").append(team.name());
        text.append(" cannot end: an earlier collective of this team ended by an error on ").append(pe);
        text.append(". See the error of ").append(pe);
        text.append("; then restart the job, or use another team.");
        throw Error(ErrorCode::collective_mismatch, text);
    }
}

/// Called while an exception is handled. A death leaves no mark: every member detects it and throws pe_died.
void Meetings::mark_broken() noexcept {
    broken_ = true;
    try {
        throw;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::pe_died) return;
    } catch (...) {
    }
    own_call_line().failed.store(1, std::memory_order_release);
}

void Meetings::compare_waiting(void* hook_state) {
    const auto differing = [&](const Published*& one, const Published*& other,
                               const std::vector<Published>& all) {
        one = other = nullptr;
        for (const Published& p : all) {
            if (p.meeting != meeting()) continue;
            if (!one) one = &p;
            if (p.kind != one->kind && !other) other = &p;
        }
        return other != nullptr;
    };
    std::vector<Published> all = all_published();
    const Published *one = nullptr, *other = nullptr;
    if (!differing(one, other, all)) return;
    publish_site(hook_state);
    for (int poll = 0; poll < site_polls && (one->site.empty() || other->site.empty()); ++poll) {
        const timespec pause{0, site_pause_ns};
        ::nanosleep(&pause, nullptr);
        all = all_published();
        if (!differing(one, other, all)) return;
    }
    throw_mismatch(*one, *other);
}

void Meetings::throw_mismatch(const Published& one, const Published& other) const {
    const auto call_of = [&](const Published& p) {
        return CallOf{team_.world_pe(p.member), p.record, p.site};
    };
    throw Error(ErrorCode::collective_mismatch, mismatch_text(team_.name(), call_of(one), call_of(other)));
}

void Meetings::check_thread(const char* operation) const {
    check_overtaken(operation);
    if (broken()) team_.check_alive();  // the other one of two threads has failed
}

void Meetings::fail_two_threads(const char* operation) const {
    const char* other = within_.load(std::memory_order_relaxed);
    throw Error(ErrorCode::collective_mismatch,
                "Two threads of PE " + std::to_string(job_.pe()) + " are in collectives of " + team_.name() +
                    " at once: " + (other != nullptr ? std::string(other) + " and " : std::string()) +
                    operation +
                    ". A team runs one collective at a time; give each thread a separate team (team_split), "
                    "or make the calls one after another.");
}

}  // namespace atl::core
