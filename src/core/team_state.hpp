// A team as its member sees it.
#pragma once

#include "atoll/context.hpp"
#include "atoll/detail/window.hpp"
#include "core/control.hpp"
#include "core/group_pages.hpp"
#include "core/spread.hpp"

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atl::core {

class JobState;

/// What a collective is called with, compared between members by `agree`.
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

/// Of a PE that cannot make the call and meets the others nevertheless, which then hear that it differs.
inline CallRecord refused_record(const char* operation) {
    return call_record(operation, ~std::uint64_t{0}, ~std::uint64_t{0});
}
inline bool is_refused(const CallRecord& record) {
    return record.a == ~std::uint64_t{0} && record.b == ~std::uint64_t{0};
}

/// What a block is asked for, in the record of its allocation.
namespace allocation_bits {
inline constexpr std::uint64_t atomics_remote = 1, signal_remote = 2, device = 4;
}

/// What a layer above keeps with a team.
struct TeamAttachment {
    virtual ~TeamAttachment() = default;
    /// Gives shared memory back; called by destroy, once no member uses it any more.
    virtual void release() noexcept {}
    /// Before it: what was sent between hosts and not heard of is heard of once Spread::complete returns.
    virtual void ask_to_hear() {}
};

class TeamState {
  public:
    /// Members as world PEs. They meet as soon as the first of them do, so `memory` is ready.
    TeamState(JobState& job, int number, std::vector<int> members, int my_pe, const TeamMemory& memory);
    ~TeamState();
    TeamState(const TeamState&) = delete;
    TeamState& operator=(const TeamState&) = delete;

    JobState& job() const { return job_; }
    int number() const { return number_; }  ///< for people: world is 0, others count up on this PE
    int my_pe() const { return my_pe_; }
    int n_pes() const { return static_cast<int>(members_.size()); }
    int world_pe(int i) const { return members_[static_cast<std::size_t>(i)]; }
    int find(int world_pe) const;  ///< -1 if not a member
    std::string name() const;      ///< "the world team", "team 3 (4 PEs)"

    const Context& context() const { return context_; }
    void renew_context();  ///< once the job's window has changed, before anybody has copied it
    detail::TeamMap map() const;
    ControlBlock& control() { return *control_; }
    MemberBlock& member(int i) { return control_->member(i); }
    bool crowded() const { return crowded_; }  ///< more members than cores: sleep rather than spin
    /// Null where all members share memory. Where not, `control` and `member` are not to be used but by way
    /// of `spread()->local()`.
    Spread* spread() const { return spread_.get(); }

    /// Of its control block for kernels, alike on all members; -1: none was free.
    int kernel_place() const { return kernel_place_; }
    void set_kernel_place(int place) { kernel_place_ = place; }
    const GroupPages& group_pages() const { return group_pages_; }
    void set_group_pages(const GroupPages& pages) { group_pages_ = pages; }
    std::once_flag kernels_once[2];  ///< by Memory: guards the filling of that block
    bool ready_for_kernels(Memory memory) const {
        return ready_for_kernels_[static_cast<int>(memory)].load(std::memory_order_acquire);
    }
    void set_ready_for_kernels(Memory memory) {
        ready_for_kernels_[static_cast<int>(memory)].store(true, std::memory_order_release);
    }

    /// Throws Error(use_after_free) once destroyed. Collective: last use of the control block.
    void check_alive() const;
    void destroy();
    void release_attachments();
    bool destroyed() const { return destroyed_; }
    /// The same members, who meet elsewhere: what streams ask of the host (team_server.hpp) does not meet the
    /// program's own calls. Local; its memory came with the team's. Throws Error(unsupported) without such.
    TeamState& twin();
    /// What this PE put to others in meetings and messages is there.
    void complete() const;
    /// It is one that the job made: it lasts as long.
    void set_predefined() { predefined_ = true; }
    bool broken() const { return broken_; }

    // ---- meeting (sync.cpp, exchange.cpp)
    /// All members have arrived.
    void sync(const char* operation);
    /// All members have arrived, and `exchanged(i)` holds what member i passed (null: nothing), until this
    /// PE's next exchange on this team. `bytes`, at most exchange_bytes, is the same on all: it says which
    /// lines are used.
    void exchange(const char* operation, const void* mine, std::size_t bytes);
    const unsigned char* exchanged(int i) const { return exchanged_.at(i); }
    /// Meets, and throws Error(collective_mismatch) on every member, naming two of them, unless all passed
    /// the same.
    void agree(const CallRecord& record);
    bool checks_all() const { return checks_all_; }
    /// The same for meetings that carry nothing; only with ATOLL_CHECK=all.
    void agree_to(const char* operation) {
        if (checks_all_) [[unlikely]]
            agree(call_record(operation));
    }

    /// Waits until `flag` of the team's own has reached `value`; `peer` is the team PE waited for, -1 = see
    /// `missing`.
    void wait_flag(const char* operation, detail::Flag& flag, std::uint32_t value, int peer,
                   int (*missing)(const void*, int*, int) = nullptr);

    /// What collectives keep: their choice of algorithms and staging memory.
    std::unique_ptr<TeamAttachment> collective_state;
    /// The stream of its blocking collectives on device memory.
    std::unique_ptr<TeamAttachment> device_lane;
    /// Channels of send and recv; `messages_once` guards its making.
    std::unique_ptr<TeamAttachment> messages;
    std::once_flag messages_once;

  private:
    /// What all members pass: at even distances.
    struct Passed {
        unsigned char* first;
        std::size_t distance;
        unsigned char* at(int i) const { return first + distance * static_cast<std::size_t>(i); }
    };
    Passed passed_in_lines() { return {member(0).exchange[exchange_epoch_ & 1].data, sizeof(MemberBlock)}; }
    Passed passed_in_pair() { return {pair_->half[0].data, sizeof(PairHalf)}; }
    void exchange_spread(const char* operation, const void* mine, std::size_t bytes);
    void renew_flags(std::uint32_t epoch);
    void meet(const char* operation, std::uint32_t epoch);
    void wait_slowly(const char* operation, detail::Flag& flag, std::uint32_t value, int peer,
                     int (*missing)(const void*, int*, int));
    void meet_in_pair(const char* operation, PairLine& line, std::uint32_t epoch);
    void sync_rounds(const char* operation);
    /// A meeting of groups, a group a core, for PEs that outnumber cores.
    struct Crowd {
        std::atomic<std::uint32_t> GroupLine::*in_group;
        std::atomic<std::uint32_t> GroupsLine::*in_team;
        detail::Flag& release;
        detail::Flag& (*arrived)(MemberBlock& member, std::uint32_t epoch);  ///< what a member sets itself
        int (*missing)(const void* team, int* pes, int most);                ///< for SlowWait
        bool carries = false;  ///< data, packed into the line of groups
    };
    void meet_in_groups(const char* operation, std::uint32_t epoch, const Crowd& crowd);
    void gather_group(int group);
    void regroup();
    void note_core() noexcept;
    /// Lets others run, a little while; true once `flag` has reached `epoch`.
    bool give_turns(const detail::Flag& flag, std::uint32_t epoch) const;
    static int missing_at_sync(const void* team, int* pes, int most);
    static int missing_at_exchange(const void* team, int* pes, int most);
    void wait_exchange_lines(const char* operation, std::uint32_t epoch);

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
    GroupPages group_pages_;
    std::atomic<bool> ready_for_kernels_[2] = {};
    bool crowded_ = false;
    bool checks_all_ = false;  ///< ATOLL_CHECK is `all`
    bool destroyed_ = false;
    bool predefined_ = false;
    bool broken_ = false;           ///< a meeting ended by an error: the members no longer count alike
    PairLine* pair_ = nullptr;      ///< of the current exchange, if it goes by the line of two
    Passed exchanged_{};            ///< by the current exchange, once met
    std::size_t packed_bytes_ = 0;  ///< a member's, if the current exchange's all go into one line; else 0
    int core_ = 0;                  ///< what this PE's `place` says
    std::uint32_t sync_epoch_ = 0;
    std::uint32_t exchange_epoch_ = 0;
    Context context_;
};

/// Collective over `parent`; see Team::split. Null for PEs that join none.
std::shared_ptr<TeamState> split(TeamState& parent, int color, int key, const CallRecord& record);

}  // namespace atl::core
