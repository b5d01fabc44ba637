// WorldView: the job for its GPU memory.
#pragma once

#include "gpu/job_view.hpp"

namespace atl::core {
class JobState;
}

namespace atl::stream {

/// Construct it after the job's routes are known. Refers to `job`.
class WorldView final : public gpu::JobView {
  public:
    explicit WorldView(core::JobState& job);

    const gpu::JobFacts& facts() const noexcept override { return facts_; }
    void exchange(const void* message, std::size_t bytes) override;
    const void* exchanged(int pe) const override;
    void agree_on_buffer(std::size_t bytes, std::size_t parts, std::uint64_t hash_of_parts) override;
    void wait_like_a_start(const std::function<bool()>& ready) override;
    void abort(const std::string& text) override;
    void set_host_check(device::Watch& watch) override;

  private:
    core::JobState& job_;
    const gpu::JobFacts facts_;
};

}  // namespace atl::stream
