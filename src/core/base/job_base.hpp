// JobBase: the parts of a job that its teams, its heap and its waits use. JobState adds the parts that need
// teams, and the start and end of the job.
#pragma once

#include "atoll/detail/window.hpp"
#include "bootstrap/bootstrap.hpp"
#include "common/recorder/meter.hpp"
#include "common/recorder/recorder.hpp"
#include "common/settings/settings.hpp"
#include "core/base/arena.hpp"
#include "core/base/device_access.hpp"
#include "core/base/job_waits.hpp"
#include "core/base/kernel_memory.hpp"
#include "core/base/pace.hpp"
#include "core/base/topology.hpp"
#include "memory/mapping.hpp"
#include "transport/transport.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace atl::core {

class JobState;

/// Numbers of teams, unique on this PE. The world team has number 0. Threads may make different teams at
/// once.
class TeamNumbers {
  public:
    int next() { return ++last_; }
    int last() const { return last_; }
    /// Takes a number that members have agreed on, the largest of their last ones and 1. Returns one that is
    /// unique on this PE: a later one if threads of this PE make teams at once.
    int take(int agreed) {
        int last = last_, unique = 0;
        do unique = std::max(last + 1, agreed);
        while (!last_.compare_exchange_weak(last, unique));
        return unique;
    }

  private:
    std::atomic<int> last_{0};
};

class JobBase {
  public:
    JobBase(const JobBase&) = delete;
    JobBase& operator=(const JobBase&) = delete;

    /// The whole job, for calls of the public headers that take it.
    JobState& job_state() const { return job_state_; }

    /// Threads of this PE that wait, and the end of the job, which ends their waits.
    JobWaits& waits() { return waits_; }
    const JobWaits& waits() const { return waits_; }
    int pe() const { return pe_; }
    int n_pes() const { return n_pes_; }
    /// Durations of polls.
    const Pace& pace() const { return pace_; }
    const common::Settings& settings() const { return settings_; }
    const detail::Window& window() const { return window_; }
    const std::shared_ptr<memory::Mapping>& mapping() const { return mapping_; }
    const common::BoardView& board() const { return segment_.board; }
    /// Flight recorder of this PE. Its memory is on the board.
    std::unique_ptr<common::Recorder> recorder;
    /// Counts and times its operations; null without statistics.
    std::unique_ptr<common::Meter> meter;
    std::unique_ptr<common::EventLog> log;  ///< null without a trace
    bootstrap::Bootstrap& bootstrap() { return *bootstrap_; }
    /// Null if all PEs share memory.
    const std::shared_ptr<transport::Transport>& transport() const { return transport_; }
    /// Hosts, slots and routes of all PEs.
    const Topology& topology() const { return topology_; }

    /// Access to this PE's GPU, which the first allocation there opens.
    DeviceAccess& devices() { return devices_; }
    const DeviceAccess& devices() const { return devices_; }

    /// The library's own shared memory.
    Arena& arena() { return arena_; }
    const Arena& arena() const { return arena_; }
    /// Memory for kernels, of all teams.
    JobKernels& kernels() { return kernels_; }
    const JobKernels& kernels() const { return kernels_; }
    /// True if every PE's front declares the dtypes of its collectives. They are then compared, too.
    bool compares_dtypes() const { return compares_dtypes_; }
    TeamNumbers& team_numbers() { return team_numbers_; }

  protected:
    /// Reads the board. JobState fills in the rest as the job starts.
    JobBase(JobState& job_state, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
            const common::Settings& settings, const UpperLayers& upper);
    ~JobBase();

    common::Settings settings_;
    std::unique_ptr<bootstrap::Bootstrap> bootstrap_;
    int pe_;
    int n_pes_;
    Pace pace_;
    bool compares_dtypes_ = false;
    JobWaits waits_;
    bootstrap::HostSegment segment_;
    Topology topology_{pe_, n_pes_};
    Arena arena_{pe_, topology_};
    std::shared_ptr<memory::Mapping> mapping_;
    detail::Window window_;
    std::shared_ptr<transport::Transport> transport_;
    DeviceAccess devices_;
    JobKernels kernels_;

  private:
    JobState& job_state_;
    TeamNumbers team_numbers_;
};

}  // namespace atl::core
