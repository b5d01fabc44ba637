// JobState: a job as seen by one of its PEs, with everything that the public objects share. The library has
// no global state below the fronts, so PEs can be threads of one process.
#pragma once

#include "atoll/detail/window.hpp"
#include "atoll/job.hpp"
#include "bootstrap/bootstrap.hpp"
#include "bootstrap/host/hosts.hpp"
#include "common/settings/settings.hpp"
#include "core/base/arena.hpp"
#include "core/base/job_waits.hpp"
#include "core/base/kernel_memory.hpp"
#include "core/base/pace.hpp"
#include "core/base/stream_services.hpp"
#include "core/base/topology.hpp"
#include "core/heap/reserved.hpp"
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

class JobState : public std::enable_shared_from_this<JobState> {
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

    /// Threads of this PE that wait, and the end of the job, which ends their waits.
    JobWaits& waits() { return waits_; }
    const JobWaits& waits() const { return waits_; }
    /// PEs that share this one's job board and have not called init, or have only begun it.
    std::vector<int> not_started() const;

    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }
    /// Durations of polls.
    const Pace& pace() const { return pace_; }
    const common::Settings& settings() const { return settings_; }
    const detail::Window& window() const { return window_; }
    const std::shared_ptr<memory::Mapping>& mapping() const { return mapping_; }
    const common::BoardView& board() const { return segment_.board; }
    /// Every PE is outside all calls and will finalize next: finalize then does not wait, and another init
    /// can replace a broken world team.
    bool met = false;
    /// Flight recorder of this PE. Its memory is on the board.
    std::unique_ptr<common::Recorder> recorder;
    TeamIds team_ids;
    /// Memory of distributed arrays over teams.
    Reserved reserved{*this};
    /// Counts and times its operations; null without statistics.
    std::unique_ptr<common::Meter> meter;
    std::unique_ptr<common::EventLog> log;  ///< null without a trace
    bootstrap::Bootstrap& bootstrap() { return *bootstrap_; }
    transport::Transport* transport() { return transport_.get(); }
    const std::shared_ptr<transport::Transport>& shared_transport() const { return transport_; }
    const Team& world() const { return teams_.world(); }
    TeamState& world_state() const { return world().state(); }
    PredefinedTeams& teams() { return teams_; }
    /// Hosts, slots and routes of all PEs.
    const Topology& topology() const { return topology_; }

    /// Symmetric memory of programs.
    SymmetricHeap& heap() { return heap_; }
    const SymmetricHeap& heap() const { return heap_; }
    /// Null until a PE's program first allocates device memory.
    const gpu::DeviceMemory* device() const { return heap_.devices().memory(); }
    /// The services of streams; null without device().
    StreamServices* stream_services() const { return heap_.devices().services(); }

    /// The library's own shared memory.
    Arena& arena() { return arena_; }
    const Arena& arena() const { return arena_; }
    /// Memory for kernels, of all teams.
    JobKernels& kernels() { return kernels_; }
    const JobKernels& kernels() const { return kernels_; }
    AbandonedLocks& abandoned_locks() { return abandoned_locks_; }
    /// True if every PE's front declares the dtypes of its collectives. They are then compared, too.
    bool compares_dtypes() const { return compares_dtypes_; }

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
    void meet_at_start();
    void gather_statistics();
    /// True if a launcher reads the records of all PEs when the job has ended.
    bool launcher_prints() const;
    void announce_start() const;
    void announce(bool finalized) noexcept;

    common::Settings settings_;
    const UpperLayers& upper_;
    std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
    int pe_;
    int n_pes_;
    Pace pace_;
    bool compares_dtypes_ = false;
    bool gathers_statistics_ = false;
    std::atomic<bool> ended_{false};
    JobWaits waits_;
    int process_;  ///< process of the PE: a forked child must not act for it
    bootstrap::HostSegment segment_;
    Topology topology_{pe_, n_pes_};
    Arena arena_{pe_, topology_};
    memory::Layout layout_;
    std::shared_ptr<memory::Mapping> mapping_;
    memory::StaticData static_data_;
    detail::Window window_;
    std::shared_ptr<transport::Transport> transport_;

    SymmetricHeap heap_{*this, upper_};
    AbandonedLocks abandoned_locks_;
    JobKernels kernels_;

    PredefinedTeams teams_{*this};
    std::unique_ptr<bootstrap::Monitor> monitor_;  // last: it stops before anything that it uses
};

}  // namespace atl::core
