// TeamState: a team as seen by one of its members.
#pragma once

#include "atoll/context.hpp"
#include "atoll/detail/window.hpp"
#include "core/sync/control_block.hpp"
#include "core/sync/spread.hpp"
#include "core/team/called.hpp"
#include "gpu/heap/group_pages.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atl::core {

class JobState;

/// The arguments of a collective, compared between members by `agree`.
struct CallRecord {
    char operation[16] = {};
    std::uint64_t a = 0, b = 0, c = 0, d = 0;
};
static_assert(sizeof(CallRecord) == exchange_bytes);

inline CallRecord call_record(const char* operation, std::uint64_t a = 0, std::uint64_t b = 0,
                              std::uint64_t c = 0, std::uint64_t d = 0) {
    CallRecord record;
    std::strncpy(record.operation, operation, sizeof record.operation - 1);
    record.a = a;
    record.b = b;
    record.c = c;
    record.d = d;
    return record;
}

/// The record of a PE that cannot make the call. It meets the others nevertheless, which then learn of the
/// difference.
inline CallRecord refused_record(const char* operation) {
    return call_record(operation, ~std::uint64_t{0}, ~std::uint64_t{0});
}
inline bool is_refused(const CallRecord& record) {
    return record.a == ~std::uint64_t{0} && record.b == ~std::uint64_t{0};
}

/// Bits of an allocation's record that describe the requested block.
namespace allocation_bits {
inline constexpr std::uint64_t atomics_remote = 1, signal_remote = 2, device = 4;
}

/// State that a layer above keeps with a team.
struct TeamAttachment {
    virtual ~TeamAttachment() = default;
    /// Frees shared memory. Called by destroy, once no member uses it any more.
    virtual void release() noexcept {}
    /// Called before release. Makes unacknowledged messages between hosts complete once Spread::complete
    /// returns.
    virtual void ask_to_hear() {}
};

class TeamState {
  public:
    /// `members` are world PEs. They may meet as soon as the first is constructed, so `memory` must be ready.
    TeamState(JobState& job, int number, std::vector<int> members, int my_pe, const TeamMemory& memory);
    ~TeamState();
    TeamState(const TeamState&) = delete;
    TeamState& operator=(const TeamState&) = delete;

    JobState& job() const { return job_; }
    int number() const { return number_; }  ///< for people: world is 0, others are counted on this PE
    int my_pe() const { return my_pe_; }
    int n_pes() const { return static_cast<int>(members_.size()); }
    int world_pe(int i) const { return members_[static_cast<std::size_t>(i)]; }
    int find(int world_pe) const;  ///< -1 if not a member
    std::string name() const;      ///< "the world team", "team 3 (4 PEs)"

    const Context& context() const { return context_; }
    void renew_context();  ///< called once the job's window has changed, before any copy was made
    detail::TeamMap map() const;
    ControlBlock& control() { return *control_; }
    MemberBlock& member(int i) { return control_->member(i); }
    bool crowded() const { return crowded_; }  ///< more members than cores: sleep rather than spin
    /// Null if all members share memory. Otherwise use `control` and `member` only through
    /// `spread()->local()`.
    Spread* spread() const { return spread_.get(); }

    /// Index of its control block for kernels, the same on all members; -1: no place was free.
    int kernel_place() const { return kernel_place_; }
    void set_kernel_place(int place) { kernel_place_ = place; }
    const gpu::GroupPages& group_pages() const { return group_pages_; }
    void set_group_pages(const gpu::GroupPages& pages) { group_pages_ = pages; }
    std::once_flag kernels_once[2];  ///< one for each Memory: guards the filling of the control block
    bool ready_for_kernels(Memory memory) const {
        return ready_for_kernels_[static_cast<int>(memory)].load(std::memory_order_acquire);
    }
    void set_ready_for_kernels(Memory memory) {
        ready_for_kernels_[static_cast<int>(memory)].store(true, std::memory_order_release);
    }

    /// Throws Error(use_after_free) once destroyed. Collective: last use of the control block.
    void check_alive() const {
        if (destroyed_ || broken()) [[unlikely]]
            fail_unusable();
    }
    void destroy();
    void release_attachments();
    bool destroyed() const { return destroyed_; }
    /// A team of the same members with separate memory. Streams' requests to the host (team_server.hpp) use
    /// it, so that they do not meet the program's own calls. Local; its memory was allocated with the team's.
    /// Throws Error(unsupported) if there is no such memory.
    TeamState& twin();
    /// Completes this PE's puts to others in meetings and messages.
    void complete() const;
    /// Marks a team that the job made and that lasts as long.
    void set_predefined() { predefined_ = true; }
    bool broken() const { return broken_.load(std::memory_order_relaxed); }

    // ---- meeting (sync.cpp, exchange.cpp)
    // Each throws Error(collective_mismatch) on every member, naming two of them, if members are in different
    // calls: see mismatch.cpp.
    /// Waits until all members have arrived.
    void sync(const Called& call);
    /// Waits until all members have arrived. Then `exchanged(i)` contains member i's data (null: nothing),
    /// until this PE's next exchange on this team. `bytes`, at most exchange_bytes, is the same on all: it
    /// selects the lines.
    void exchange(const Called& call, const void* mine, std::size_t bytes);
    const unsigned char* exchanged(int i) const { return exchanged_.at(i); }
    /// Meets, and throws Error(collective_mismatch) on every member, naming two of them, unless all passed
    /// the same record.
    void agree(const CallRecord& record);
    /// Element type of the next collectives, if the front has declared it (elements.hpp).
    std::uint64_t elements() const { return elements_; }
    void set_elements(std::uint64_t elements) { elements_ = elements; }
    bool checks_all() const { return checks_all_; }
    /// `agree` for meetings without arguments; only with ATOLL_CHECK=all.
    void agree_to(const char* operation) {
        if (checks_all_) [[unlikely]]
            agree(call_record(operation));
    }
    /// The meeting of `sync` alone. Returns false on all members if they are in different calls.
    bool meets_alike(const Called& call, std::uint32_t fingerprint);
    /// Fingerprint of a call; 0 if calls are not compared.
    std::uint32_t fingerprint_of(const Called& call) const { return call.fingerprint() & compared_; }

    // ---- one thread at a time
    /// Marks the team while a thread is in a collective or in one of its meetings. Throws
    /// Error(collective_mismatch) if another thread is in a collective of this team, and keeps that mark.
    /// With ATOLL_CHECK=basic two threads may enter in the same moment: a meeting of the first then throws.
    class Within {
      public:
        [[gnu::always_inline]] Within(TeamState& team, const Called& call)
            : team_(team), outermost_(team.enter(call)) {}
        [[gnu::always_inline]] ~Within() {
            if (outermost_) team_.leave();
        }
        Within(const Within&) = delete;
        Within& operator=(const Within&) = delete;

      private:
        TeamState& team_;
        bool outermost_;  ///< false in a meeting of a call that has marked the team
    };

    /// Checks in a slow wait that no other thread has entered this team's collectives.
    void check_thread(const char* operation) const;

    /// State of collectives: their choice of algorithms and staging memory.
    std::unique_ptr<TeamAttachment> collective_state;
    /// The stream of its blocking collectives on device memory.
    std::unique_ptr<TeamAttachment> device_lane;
    /// Channels of send and recv; `messages_once` guards their creation.
    std::unique_ptr<TeamAttachment> messages;
    std::once_flag messages_once;
    /// Its non-blocking collectives; `requests_once` guards their creation.
    std::unique_ptr<TeamAttachment> requests;
    std::once_flag requests_once;

  private:
    /// The data of all members, at equal distances.
    struct Passed {
        unsigned char* first;
        std::size_t distance;
        unsigned char* at(int i) const { return first + distance * static_cast<std::size_t>(i); }
    };
    Passed passed_in_lines() { return {member(0).exchange[exchange_epoch_ & 1].data, sizeof(MemberBlock)}; }
    Passed passed_in_pair() {
        return {control_->pair_exchange.half[0].data[exchange_epoch_ & 1], sizeof(PairHalf)};
    }
    bool exchange_alike(const Called& call, const void* mine, std::size_t bytes);
    bool exchange_spread(const Called& call, const void* mine, std::size_t bytes);
    /// A member's call in a meeting, and its fingerprint for comparison.
    struct Arrival {
        const Called& call;
        std::uint32_t fingerprint;
    };
    // These return true on all members if all are in one call, else false.
    bool meet_to_sync(Arrival mine);
    void clear_line_of_old(std::uint32_t parity) noexcept;
    bool meet_to_exchange(Arrival mine);
    bool meets_in_pair() const { return !crowded_ && n_pes() == 2; }
    bool meet_in_pair(PairLine& line, std::uint32_t epoch, Arrival mine);
    void wait_in_pair(detail::Flag& flag, std::uint32_t epoch, Arrival mine);
    bool sync_rounds(Arrival mine);
    bool wait_exchange_lines(std::uint32_t epoch, Arrival mine);
    /// The argument of the functions that a waiting member calls.
    struct Waiting {
        TeamState& team;
        const Called& call;
        const detail::Flag& flag;
        std::uint32_t value;  ///< of `flag` that ends the wait
        int peer;             ///< the team PE that sets `flag`; -1: see `missing`
        int (*missing)(const void* waiting, int* pes, int most);  ///< null unless `peer` is -1
    };
    /// Fills in the missing world PEs; `waiting` is a Waiting.
    using Missing = int (*)(const void* waiting, int* pes, int most);
    /// Waits until `flag` of the team has reached `value`. `peer` is the awaited team PE; -1: see `missing`.
    void wait_flag(const Called& call, detail::Flag& flag, std::uint32_t value, int peer,
                   Missing missing = nullptr);
    void wait_slowly(const Called& call, detail::Flag& flag, std::uint32_t value, int peer, Missing missing);
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
        return true;
    }
    /// May clear the mark of a thread that has entered in the same moment. That thread then fails, too.
    [[gnu::always_inline]] void leave() noexcept {
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
    [[noreturn]] void fail_unusable() const;
    // ---- calls that differ (mismatch.cpp)
    /// Kind of words by which a meeting goes: members that use different kinds never meet.
    enum class Way : std::uint32_t { sync, exchange };
    struct Published;
    std::uint32_t meeting() const { return sync_epoch_ + exchange_epoch_; }
    CallLine& own_call_line();
    void publish(const Called& call);
    void publish_site(void* hook_state);
    std::vector<Published> all_published();
    static void look_for_mismatch(const void* waiting, void* hook_state);
    void compare_waiting(void* hook_state);
    static void look_for_failed(const Waiting& waiting);
    void mark_broken() noexcept;
    [[noreturn]] void fail_mismatch(const Called& call);
    [[noreturn]] void fail_two_threads(const char* operation) const;
    [[noreturn]] void throw_mismatch(const Published& one, const Published& other) const;
    /// A meeting of groups, one for each core, for PEs that outnumber cores.
    struct Crowd {
        std::atomic<std::uint64_t> GroupLine::*in_group;
        std::atomic<std::uint32_t> GroupsLine::*in_team;
        detail::Flag& release;
        std::uint32_t& call;  ///< fingerprint of all of them, or Called::differing; beside `release`
        detail::Flag& (*arrived)(MemberBlock& member, std::uint32_t epoch);  ///< the flag that a member sets
                                                                             ///< itself
        Missing missing;
        bool carries = false;  ///< data, packed into the line of groups
    };
    bool meet_in_groups(std::uint32_t epoch, Arrival mine, const Crowd& crowd);
    void gather_group(int group);
    void regroup();
    void note_core() noexcept;
    /// Continues a wait for a flag that `peer` sets. Lets the peer run if it needs this core; else polls
    /// until the wait becomes slow. Returns true if the flag was set.
    bool look_for_peer(const detail::Flag& flag, std::uint32_t value, int peer, int pauses) noexcept;
    /// Yields a few times; true once `flag` has reached `epoch`.
    bool give_turns(const detail::Flag& flag, std::uint32_t epoch) const;
    static int missing_at_sync(const void* waiting, int* pes, int most);
    static int missing_at_exchange(const void* waiting, int* pes, int most);

    JobState& job_;
    int number_;
    std::vector<int> members_;
    std::vector<int> slots_;  ///< empty when members are slots first + i * step
    int first_ = 0;
    int step_ = 1;
    int my_pe_;
    ControlBlock* control_;
    bool owns_control_;
    bool doubled_;  ///< see TeamMemory
    std::once_flag twin_once_;
    std::unique_ptr<TeamState> twin_;
    std::unique_ptr<Spread> spread_;
    int kernel_place_ = -1;
    gpu::GroupPages group_pages_;
    std::atomic<bool> ready_for_kernels_[2] = {};
    bool crowded_ = false;
    bool checks_all_ = false;      ///< ATOLL_CHECK is `all`
    bool checks_threads_ = false;  ///< `args` or `all`: two threads in a meeting are always detected
    std::uint32_t compared_ = 0;   ///< the compared bits of fingerprints: all or none
    std::atomic<const void*> caller_{nullptr};  ///< the thread that is in a collective of this team
    /// The operation of `caller_`. A literal, since another thread may read it after that call has ended.
    std::atomic<const char*> within_{nullptr};
    Way way_ = Way::sync;     ///< of the current meeting
    bool reporting_ = false;  ///< members meet to exchange the calls in which they are
    bool destroyed_ = false;
    bool predefined_ = false;
    /// A meeting ended with an error: the members' epochs no longer agree. Another thread may wait meanwhile.
    std::atomic<bool> broken_{false};
    Passed exchanged_{};            ///< data of the current exchange, once met
    std::size_t packed_bytes_ = 0;  ///< bytes per member if the data of all fit into one line; else 0
    std::uint64_t elements_ = 0;
    bool line_is_old_[2] = {};  ///< in a pair: this PE's line holds what it passed earlier
    bool shares_core_ = false;  ///< found in the last wait for a member: the next one yields at once
    int core_ = 0;              ///< the core in this PE's `place`
    std::uint32_t sync_epoch_ = 0;
    std::uint32_t exchange_epoch_ = 0;
    Context context_;
};

/// Collective over `parent`; see Team::split. Null for PEs that join no team.
std::shared_ptr<TeamState> split(TeamState& parent, int color, int key, const CallRecord& record);

}  // namespace atl::core
