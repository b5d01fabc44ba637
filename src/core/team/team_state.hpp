// TeamState: a team as seen by one of its members.
#pragma once

#include "atoll/context.hpp"
#include "atoll/detail/window.hpp"
#include "core/base/control_block.hpp"
#include "core/base/kernel_memory.hpp"
#include "core/calls/called.hpp"
#include "core/team/meetings.hpp"
#include "core/team/spread.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace atl::core {

class JobBase;
class JobState;

/// State that a layer above keeps with a team.
struct TeamAttachment {
    virtual ~TeamAttachment() = default;
    /// Frees shared memory. Called by destroy, once no member uses it any more.
    virtual void release() noexcept {}
    /// Called before release. Makes unacknowledged messages between hosts complete once Spread::complete
    /// returns.
    virtual void subscribe() {}
};

class TeamState {
  public:
    /// `members` are world PEs. They may meet as soon as the first is constructed, so `memory` must be ready.
    TeamState(JobBase& job, int number, std::vector<int> members, int my_pe, const TeamMemory& memory);
    ~TeamState();
    TeamState(const TeamState&) = delete;
    TeamState& operator=(const TeamState&) = delete;

    JobState& job() const { return job_; }
    /// The parts of the job that this folder may use.
    JobBase& job_base() const { return base_; }
    int number() const { return number_; }  ///< number in reports: world is 0, others are counted on this PE
    int my_pe() const { return my_pe_; }
    int n_pes() const { return static_cast<int>(members_.size()); }
    int world_pe(int i) const { return members_[static_cast<std::size_t>(i)]; }
    const std::vector<int>& members() const { return members_; }  ///< members by their PEs in the world
    int find(int world_pe) const;                                 ///< -1 if not a member
    std::string name() const;  ///< such as "the world team", "team 3 (4 PEs)"

    const Context& context() const { return context_; }
    void renew_context();  ///< called once the job's window has changed, before any copy was made
    detail::TeamMap map() const;
    ControlBlock& control() { return *control_; }
    MemberBlock& member(int i) { return control_->member(i); }
    /// Null if all members share memory. Otherwise use `control` and `member` only through
    /// `spread()->local()`.
    Spread* spread() const { return spread_.get(); }

    /// Its state for kernels.
    TeamKernels kernels;

    /// Throws Error(use_after_free) once destroyed. Collective: last use of the control block.
    void check_alive() const {
        if (destroyed_ || meetings_.broken()) [[unlikely]]
            fail_unusable();
    }
    void destroy();
    void release_attachments();
    /// A team of the same members with separate memory. Streams' requests to the host (team_server.hpp) use
    /// it, so that they do not meet the program's own calls. Local; its memory was allocated with the team's.
    /// Throws Error(unsupported) if there is no such memory.
    TeamState& server_team();
    /// Completes this PE's puts to others in meetings and messages.
    void complete() const;
    /// A number that all members compute alike from the team's members; 1 for the world team, never 0.
    std::uint32_t identity() const;  ///< a split gives another one: meetings().recorded.team()
    /// Marks a team that the job made and that lasts as long.
    void set_predefined() { predefined_ = true; }

    // ---- meetings of its members: the forms that most callers need
    Meetings& meetings() { return meetings_; }
    const Meetings& meetings() const { return meetings_; }
    void sync(const Called& call) { meetings_.sync(call); }
    void exchange(const Called& call, const void* mine, std::size_t bytes) {
        meetings_.exchange(call, mine, bytes);
    }
    const unsigned char* exchanged(int i) const { return meetings_.exchanged(i); }
    void agree(const CallRecord& record) { meetings_.agree(record); }
    /// Element type of the next collectives, if the front has declared it (elements.hpp).
    std::uint64_t elements = 0;

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
    /// Comparison of its collectives on streams; `stream_calls_once` guards its creation.
    std::unique_ptr<TeamAttachment> stream_calls;
    std::once_flag stream_calls_once;

  private:
    [[noreturn]] void fail_unusable() const;

    JobState& job_;
    JobBase& base_;
    int number_;
    std::vector<int> members_;
    std::vector<int> slots_;  ///< empty when members are slots first + i * step
    int first_ = 0;
    int step_ = 1;
    int my_pe_;
    ControlBlock* control_;
    bool owns_control_;
    bool doubled_;  ///< see TeamMemory
    std::once_flag server_team_once_;
    std::unique_ptr<TeamState> server_team_;
    std::unique_ptr<Spread> spread_;
    bool destroyed_ = false;
    bool predefined_ = false;
    Meetings meetings_;
    Context context_;
};

/// The first member whose host heap only a transport reaches, as a PE of the world; -1: none.
int first_far(const TeamState& team);

/// Collective over `parent`; see Team::split. Null for PEs that join no team.
std::shared_ptr<TeamState> split(TeamState& parent, int color, int key, const CallRecord& record);

}  // namespace atl::core
