// DeviceGroup: processes that run collectives and messages on streams, connected by a store of the caller,
// such as the ranks of a group of PyTorch. It is a job of its own, beside the program's current job.
#pragma once

#include "collective/requests/call.hpp"
#include "core/job/job_state.hpp"
#include "stream/staging.hpp"

#include <memory>
#include <vector>

namespace atl::front {

struct DeviceGroupOptions {
    int rank = 0, n = 1;
    int device = 0;             ///< the GPU's number in this process
    bool for_messages = false;  ///< two members that only send and receive, in both directions at once
    double timeout_s = 0;       ///< limit of joining and of waits in kernels; 0: the settings' own
    double join_timeout_s = 0;  ///< limit of joining alone; 0: timeout_s
};

class DeviceGroup {
  public:
    /// Collective over the members. Throws Error: bootstrap, unsupported (no GPU, several hosts),
    /// out_of_memory.
    DeviceGroup(const JobOptions::Store& store, const DeviceGroupOptions& options);
    /// Local.
    ~DeviceGroup() = default;
    DeviceGroup(const DeviceGroup&) = delete;
    DeviceGroup& operator=(const DeviceGroup&) = delete;

    /// Enqueues a collective. Throws Error(kernel) after a kernel of the group was stopped.
    void start(const requests::Call& call, gpu::StreamHandle stream) const;
    /// Enqueues messages that progress together. In a group for messages, all go in one direction.
    void exchange(const std::vector<requests::Call>& calls, gpu::StreamHandle stream) const;
    bool is_capturing(gpu::StreamHandle stream) const { return device().streams().is_capturing(stream); }

  private:
    const gpu::DeviceMemory& device() const { return *job_->devices().memory(); }
    void all_to_all(const requests::Call& call, gpu::StreamHandle stream) const;

    std::shared_ptr<core::JobState> job_;
    bool for_messages_;
    std::vector<stream::Staging> stages_;  ///< by sender in a group for messages, else one
};

}  // namespace atl::front
