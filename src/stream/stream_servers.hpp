// StreamServers: the device heap of a job, and the threads of the host that carry out operations of streams
// and kernels. It also runs the collectives of the host on memory of GPUs.
#pragma once

#include "core/base/stream_services.hpp"
#include "core/job/job_state.hpp"
#include "gpu/heap/device_memory.hpp"
#include "stream/kernels/world_view.hpp"
#include "stream/stream_server.hpp"
#include "stream/team_server.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace atl::stream {

class StreamServers final : public core::StreamServices {
  public:
    /// Opens this PE's GPU. Collective over the world.
    explicit StreamServers(core::JobState& job);
    /// The servers of a job with a device heap.
    static StreamServers& of(const core::JobState& job) {
        return static_cast<StreamServers&>(*job.devices().services());
    }

    /// The server of operations for single far PEs. Created by the first caller.
    StreamServer& stream_server();
    /// The server of collectives and messages of a team with far PEs, which must have a kernel place. Created
    /// at the team's first call; not while a stream is captured. Throws Error(unsupported).
    TeamServer& team_server(core::TeamState& team);

    gpu::DeviceMemory& memory() noexcept override { return device_; }
    Requests requests() override;
    void serve_kernels() override { stream_server().serve_kernels(); }
    void quiet_kernels() override;
    void end_team(const core::TeamState& team) override;
    void end() noexcept override;
    std::size_t run_collective(core::TeamState& team, const core::Called& called,
                               const gpu::GroupArguments& arguments) override;

  private:
    core::JobState& job_;
    WorldView view_;
    gpu::DeviceMemory device_;
    std::mutex mutex_;  // guards the members below
    std::unique_ptr<StreamServer> stream_server_;
    std::vector<std::unique_ptr<TeamServer>> team_servers_;  ///< by kernel place
};

}  // namespace atl::stream
