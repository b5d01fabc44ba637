// StreamServices and UpperLayers: the parts of higher layers that `core` calls.
#pragma once

#include "core/team/called.hpp"
#include "gpu/group_arguments.hpp"

#include <cstddef>
#include <memory>

namespace atl::gpu {
class DeviceMemory;
}

namespace atl::core {

class JobState;
class TeamState;

/// `src/stream` implements it. All calls are local, except `run_collective`.
class StreamServices {
  public:
    /// The words by which kernels ask for operations on PEs that only a transport reaches.
    struct Requests {
        gpu::FarRing* ring;
        unsigned long long* tickets;
    };

    virtual ~StreamServices() = default;
    /// Starts the thread that carries out such requests, if it does not run yet.
    virtual Requests requests() = 0;
    /// Announces that kernels may make requests at any time from now on.
    virtual void serve_kernels() = 0;
    /// Completes the requests of kernels that have ended.
    virtual void quiet_kernels() = 0;
    /// Releases the threads of a team that ends and has no work on streams.
    virtual void end_team(const TeamState& team) = 0;
    /// Ends all threads. No stream may be in use any more.
    virtual void end() noexcept = 0;
    /// Runs a collective of the host whose arrays are in memory of GPUs. Collective over the team; complete
    /// on return. Returns the number of bytes that a collect received, else 0.
    virtual std::size_t run_collective(TeamState& team, const Called& called,
                                       const gpu::GroupArguments& arguments) = 0;
};

/// The layers above `core`, as a job needs them.
class UpperLayers {
  public:
    virtual ~UpperLayers() = default;
    /// Makes the services of a job that opens this device heap.
    virtual std::unique_ptr<StreamServices> stream_services(JobState& job,
                                                            const gpu::DeviceMemory& device) const = 0;
};

}  // namespace atl::core
