#include "front/new_job.hpp"

#include "stream/stream_servers.hpp"

#include <utility>

namespace atl::front {

namespace {

class Library final : public core::UpperLayers {
  public:
    std::unique_ptr<core::StreamServices> stream_services(core::JobState& job,
                                                          const gpu::DeviceMemory& device) const override {
        return std::make_unique<stream::StreamServers>(job, device);
    }
};

}  // namespace

std::unique_ptr<core::JobState> new_job(std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                        const common::Settings& settings) {
    static const Library library;
    return std::make_unique<core::JobState>(std::move(bootstrap), settings, library);
}

}  // namespace atl::front
