// Meetings: a member's barriers and exchanges on a team.
//
// The shape of a team selects its strategy. Each strategy has a file in src/core/barriers, which defines its
// row of functions. Teams whose PEs have a core each use pair, or dissemination with lines. Those with more
// PEs than cores use oversubscribed, those over several hosts far. A strategy passes on the fingerprint of
// the call, and waits by `wait_flag`, which bounds the wait.
#pragma once

#include "core/base/control_block.hpp"
#include "core/calls/call_record.hpp"
#include "core/calls/called.hpp"
#include "core/calls/recorded_calls.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl::core {

static_assert(sizeof(CallRecord) == exchange_bytes);  // a record is the data of one exchange

class JobBase;
class TeamState;

/// The meetings of one member. One thread at a time meets; a second one is detected.
///
/// The calls throw Error(collective_mismatch) on every member, naming two of them, if members are in
/// different calls: see mismatch.cpp. After an error of another kind the team is broken.
class Meetings {
  public:
    Meetings(TeamState& team, ControlBlock* control, int n_pes, int my_pe);
    Meetings(const Meetings&) = delete;
    Meetings& operator=(const Meetings&) = delete;
    /// Selects the strategy (src/core/barriers/choose.cpp). Called once, when the team knows if its members
    /// share memory.
    void choose();
    /// The strategy's name, for reports and tests. "alone" if the team has one member.
    const char* strategy() const { return strategy_ ? strategy_->name : "alone"; }

    /// Waits until all members have arrived.
    void sync(const Called& call);
    /// Waits until all members have arrived. Then `exchanged(i)` contains member i's data (null: nothing),
    /// until this PE's next exchange on this team. `bytes`, at most exchange_bytes, is the same on all: it
    /// selects the lines.
    void exchange(const Called& call, const void* mine, std::size_t bytes);
    const unsigned char* exchanged(int i) const { return exchanged_.at(i); }
    /// Meets, and throws Error(collective_mismatch) unless all passed the same record.
    void agree(const CallRecord& record);
    /// `agree` for meetings without arguments; only with ATOLL_CHECK=all.
    void agree_to(const char* operation) {
        if (checks_all_) [[unlikely]]
            agree(call_record(operation));
    }
    /// This team in the flight recorder.
    RecordedCalls recorded;

    /// The meeting of `sync` alone. Returns false on all members if they are in different calls.
    bool meets_alike(const Called& call, std::uint32_t fingerprint);

    bool is_oversubscribed() const {
        return oversubscribed_;
    }  ///< more PEs than cores: sleep rather than spin
    bool checks_all() const { return checks_all_; }
    /// True after a meeting ended with an error: the members' epochs no longer agree.
    bool broken() const { return broken_.load(std::memory_order_relaxed); }
    /// The number of this member's last meeting: equal on all members that are in step.
    std::uint32_t meeting() const { return sync_epoch_ + exchange_epoch_; }
    /// Checks in a slow wait that no other thread has entered this team's collectives.
    void check_thread(const char* operation) const;

    /// Marks the team while a thread is in a collective or in one of its meetings. Throws
    /// Error(collective_mismatch) if another thread is in a collective of this team, and keeps that mark.
    /// With ATOLL_CHECK=basic two threads may enter in the same moment: a meeting of the first then throws.
    class Within {
      public:
        [[gnu::always_inline]] Within(Meetings& meetings, const Called& call)
            : meetings_(meetings), outermost_(meetings.enter(call)) {}
        [[gnu::always_inline]] ~Within() {
            if (outermost_) meetings_.leave();
        }
        Within(const Within&) = delete;
        Within& operator=(const Within&) = delete;

      private:
        Meetings& meetings_;
        bool outermost_;  ///< false if an enclosing call has already marked the team
    };

  private:
    /// A member's call in a meeting, and its fingerprint for comparison.
    struct Arrival {
        const Called& call;
        std::uint32_t fingerprint;
    };
    /// The data of a member of an exchange.
    struct Data {
        const void* mine;
        std::size_t bytes;
    };
    /// An algorithm of barriers and exchanges. Its functions return true on all members if all are in one
    /// call.
    struct Strategy {
        const char* name;
        bool (*sync)(Meetings&, Arrival);
        bool (*exchange)(Meetings&, Arrival, Data);
    };
    static const Strategy pair, dissemination, oversubscribed, far;
    struct Pair;
    struct Dissemination;
    struct Lines;
    struct Oversubscribed;
    struct Far;

    /// The data of all members, at equal distances.
    struct Passed {
        unsigned char* first;
        std::size_t distance;
        unsigned char* at(int i) const { return first + distance * static_cast<std::size_t>(i); }
    };
    MemberBlock& member(int i) { return control_->member(i); }
    /// The members' own lines for this exchange.
    Passed lines() { return {member(0).exchange[exchange_epoch_ & 1].data, sizeof(MemberBlock)}; }
    void write(const Passed& passed, Data data) const;
    bool exchange_alike(const Called& call, Data data);
    std::uint32_t fingerprint_of(const Called& call) const { return call.fingerprint() & compared_; }

    // ---- waits (waits.cpp)
    /// Fills in the missing world PEs; `waiting` is a Waiting.
    using Missing = int (*)(const void* waiting, int* pes, int most);
    /// The argument of the functions that a waiting member calls.
    struct Waiting {
        Meetings& meetings;
        const Called& call;
        const detail::Flag& flag;
        std::uint32_t value;  ///< value of `flag` that ends the wait
        int peer;             ///< the team PE that sets `flag`; -1: see `missing`
        Missing missing;      ///< null unless `peer` is -1
    };
    /// Waits until `flag` of the team has reached `value`. `peer` is the awaited team PE; -1: see `missing`.
    void wait_flag(const Called& call, detail::Flag& flag, std::uint32_t value, int peer,
                   Missing missing = nullptr);
    void wait_slowly(const Called& call, detail::Flag& flag, std::uint32_t value, int peer, Missing missing);
    /// Continues a wait for a flag that `peer` sets. Lets the peer run if it needs this core; else polls
    /// until the wait becomes slow. Returns true if the flag was set.
    bool poll_for_peer(const detail::Flag& flag, std::uint32_t value, int peer, int pauses) noexcept;
    /// Yields a few times; true once `flag` has reached `epoch`.
    bool yield_turns(const detail::Flag& flag, std::uint32_t epoch) const;

    // ---- one thread at a time
    /// Marks the team for a call. Returns false if the caller's thread has already marked it.
    [[gnu::always_inline]] bool enter(const Called& call) {
        const void* const self = __builtin_thread_pointer();
        const void* other = caller_.load(std::memory_order_relaxed);
        if (other == self) return false;
        if (other == nullptr) {
            if (checks_threads_)
                caller_.compare_exchange_strong(other, self, std::memory_order_acquire);
            else
                caller_.store(self, std::memory_order_relaxed);
        }
        if (other != nullptr) [[unlikely]]
            fail_two_threads(call.operation());
        within_.store(call.operation(), std::memory_order_relaxed);
        recorded.begin(call);
        return true;
    }
    /// May clear the mark of a thread that has entered in the same moment. That thread then fails, too.
    [[gnu::always_inline]] void leave() noexcept {
        recorded.end(broken());
        within_.store(nullptr, std::memory_order_relaxed);
        caller_.store(nullptr, std::memory_order_release);
    }
    /// True if another thread entered in the same moment: its mark has replaced this thread's. Meetings
    /// contain full barriers, so each of the two threads sees the last store.
    bool is_overtaken() const {
        return caller_.load(std::memory_order_relaxed) != __builtin_thread_pointer();
    }
    void check_overtaken(const char* operation) const {
        if (is_overtaken()) [[unlikely]]
            fail_two_threads(operation);
    }
    [[noreturn]] void fail_two_threads(const char* operation) const;

    // ---- calls that differ (mismatch.cpp)
    /// The words that a meeting uses. Members that use different words never meet.
    enum class Kind : std::uint32_t { sync, exchange };
    struct Published;
    CallLine& own_call_line();
    void publish(const Called& call);
    void publish_site(void* hook_state);
    std::vector<Published> all_published();
    static void check_for_mismatch(const void* waiting, void* hook_state);
    void compare_waiting(void* hook_state);
    static void check_for_failed(const Waiting& waiting);
    void mark_broken() noexcept;
    [[noreturn]] void fail_mismatch(const Called& call);
    [[noreturn]] void throw_mismatch(const Published& one, const Published& other) const;

    TeamState& team_;
    JobBase& job_;
    ControlBlock* control_;
    const Strategy* strategy_ = nullptr;  ///< null: the only member
    int n_pes_;
    int my_pe_;
    bool oversubscribed_ = false;
    bool checks_all_ = false;      ///< ATOLL_CHECK is `all`
    bool checks_threads_ = false;  ///< `args` or `all`: two threads in a meeting are always detected
    std::uint32_t compared_ = 0;   ///< the compared bits of fingerprints: all or none
    std::atomic<const void*> caller_{nullptr};  ///< the thread that is in a collective of this team
    /// The operation of `caller_`. A literal, since another thread may read it after that call has ended.
    std::atomic<const char*> within_{nullptr};
    Kind kind_ = Kind::sync;  ///< kind of the current meeting
    bool reporting_ = false;  ///< members meet to exchange the calls in which they are
    /// A meeting ended with an error. Another thread may wait meanwhile.
    std::atomic<bool> broken_{false};
    Passed exchanged_{};            ///< data of the current exchange, once met
    std::size_t packed_bytes_ = 0;  ///< bytes per member if the data of all fit into one line; else 0
    bool line_is_old_[2] = {};      ///< in a pair: this PE's line holds what it passed earlier
    bool shares_core_ = false;      ///< found in the last wait for a member: the next one yields at once
    int core_ = 0;                  ///< the core in this PE's `place`
    std::uint32_t sync_epoch_ = 0;
    std::uint32_t exchange_epoch_ = 0;
};

}  // namespace atl::core
