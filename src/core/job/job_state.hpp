// JobState: a job as seen by one of its PEs, with everything that the public objects share: its start, its
// parts, its end. The library has no global state below the fronts, so PEs can be threads of one process.
#pragma once

#include "atoll/job.hpp"
#include "bootstrap/bootstrap.hpp"
#include "core/base/job_base.hpp"
#include "core/heap/symmetric_heap.hpp"
#include "core/team/predefined_teams.hpp"
#include "core/team/team_state.hpp"
#include "core/team/unique_id.hpp"
#include "memory/mapping.hpp"
#include "memory/static_data.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace atl::core {

/// Locks that this PE stopped waiting for while it was in their queues (see lock.cpp), as offsets in the
/// heap.
struct AbandonedLocks {
    std::mutex mutex;
    std::set<std::uint64_t> offsets;
    std::atomic<int> count{0};  ///< size of `offsets`: the mutex is not taken while it is 0
};

class JobState : public JobBase, public std::enable_shared_from_this<JobState> {
  public:
    /// Collective: finds the other PEs, maps the window, creates the world team.
    JobState(std::unique_ptr<bootstrap::Bootstrap> bootstrap, const common::Settings& settings,
             const UpperLayers& upper);
    /// Local: announces an exit without finalize, and does not wait.
    ~JobState();
    JobState(const JobState&) = delete;
    JobState& operator=(const JobState&) = delete;

    /// Collective.
    void finalize();
    /// Announces an exit without finalize. Local. Keeps all state for threads that are still within calls.
    void leave() noexcept;

    /// PEs that share this one's job board and have not called init, or have only begun it.
    std::vector<int> not_started() const;
    /// Every PE is outside all calls and will finalize next: finalize then does not wait, and another init
    /// can replace a broken world team.
    bool met = false;
    TeamIds team_ids;
    const Team& world() const { return teams_.world(); }
    TeamState& world_state() const { return world().state(); }
    PredefinedTeams& teams() { return teams_; }

    /// Symmetric memory of programs.
    SymmetricHeap& heap() { return heap_; }
    const SymmetricHeap& heap() const { return heap_; }
    AbandonedLocks& abandoned_locks() { return abandoned_locks_; }

  private:
    void join();
    void find_hosts();
    void map_window();
    bool uses_ucx() const;
    void make_transport();
    std::unique_ptr<transport::Transport> make_loopback() const;
    void check_reached() const;
    void make_world();
    void share_statics();
    bool same_executable();
    void meet_in_init();
    void meet_at_end();
    void complete_all();
    void meet_at_start();
    void gather_statistics();
    void announce_start() const;
    void announce(bool finalized) noexcept;

    const UpperLayers& upper_;
    bool gathers_statistics_ = false;
    std::atomic<bool> ended_{false};
    int process_;  ///< process of the PE: a forked child must not act for it
    memory::Layout layout_;
    memory::StaticData static_data_;

    SymmetricHeap heap_;
    AbandonedLocks abandoned_locks_;
    PredefinedTeams teams_{*this};
    std::unique_ptr<bootstrap::Monitor> monitor_;  // last: it stops before anything that it uses
};

}  // namespace atl::core
