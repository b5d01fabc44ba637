#include "front/new_job.hpp"

#include "common/recorder/stack_area.hpp"
#include "core/sync/poll_watch.hpp"
#include "stream/kernels/kernel_control.hpp"
#include "stream/stream_servers.hpp"

#include <utility>

namespace atl::front {

namespace {

class Library final : public core::UpperLayers {
  public:
    std::unique_ptr<core::StreamServices> open_device(core::JobState& job) const override {
        return std::make_unique<stream::StreamServers>(job);
    }
    std::shared_ptr<device::Watch> host_watch(core::JobState& job) const override {
        return stream::make_host_watch(job);
    }
    void release_kernels(core::TeamState& team) const noexcept override {
        stream::release_kernel_control(team);
    }
    void started(core::JobState& job) const noexcept override {
        if (common::offered_stacks() != nullptr) core::watch_polls(job);
    }
    void ends(const core::JobState& job, bool is_forked) const noexcept override {
        core::forget_polls(job, is_forked);
    }
};

}  // namespace

std::unique_ptr<core::JobState> new_job(std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                        const common::Settings& settings) {
    static const Library library;
    return std::make_unique<core::JobState>(std::move(bootstrap), settings, library);
}

}  // namespace atl::front
