// StreamServices and UpperLayers: the parts of higher layers that `core` calls.
#pragma once

#include "core/calls/called.hpp"

#include <cstddef>
#include <memory>

namespace atl::device {
struct FarRing;
struct Watch;
}  // namespace atl::device

namespace atl::gpu {
class DeviceMemory;
struct GroupArguments;
}  // namespace atl::gpu

namespace atl::core {

class JobState;
class TeamState;

/// `src/stream` implements it, with the device heap. All calls are local, except `run_collective`.
class StreamServices {
  public:
    /// The words by which kernels ask for operations on PEs beyond the window.
    struct Requests {
        device::FarRing* ring;
        unsigned long long* tickets;
    };

    virtual ~StreamServices() = default;
    /// The device heap, which lives as long as these services.
    virtual gpu::DeviceMemory& memory() noexcept = 0;
    /// Starts the thread that carries out such requests, if it does not run yet.
    virtual Requests requests() = 0;
    /// Announces that kernels may make requests at any time from now on.
    virtual void serve_kernels() = 0;
    /// Completes the requests of kernels that have ended.
    virtual void quiet_kernels() = 0;
    /// Releases the threads of a team that ends and has no work on streams.
    virtual void end_team(const TeamState& team) = 0;
    /// Ends all threads, and the trace of kernels. No stream may be in use any more.
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
    /// Opens this PE's GPU and its part of the device heap (DeviceAccess). Collective over the world.
    virtual std::unique_ptr<StreamServices> open_device(JobState& job) const = 0;
    /// Makes the words that functions of kernels on the host poll.
    virtual std::shared_ptr<device::Watch> host_watch(JobState& job) const = 0;
    /// Frees a team's memory for kernels on this PE. No member may use it any more.
    virtual void release_kernels(TeamState& team) const noexcept = 0;
    /// The job has started.
    virtual void started(JobState& job) const noexcept = 0;
    /// The job ends, or is the copy in a forked child, which must not change what it shares with its parent.
    virtual void ends(const JobState& job, bool is_forked) const noexcept = 0;
};

}  // namespace atl::core
