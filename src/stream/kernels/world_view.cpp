#include "stream/kernels/world_view.hpp"

#include "atoll/detail/wait.hpp"
#include "atoll/device/control.hpp"
#include "core/job/end_of_job.hpp"
#include "core/job/job_state.hpp"
#include "stream/kernels/kernel_control.hpp"

namespace atl::stream {

static_assert(gpu::JobView::message_bytes == core::exchange_bytes);

WorldView::WorldView(core::JobState& job)
    : job_(job),
      facts_{job.pe(),
             job.n_pes(),
             job.settings(),
             job.topology().hosts(),
             job.window(),
             job.topology().slots(),
             job.board(),
             job.transport().get(),
             job.topology().everything_routed()} {}

void WorldView::exchange(const void* message, std::size_t bytes) {
    job_.world_state().exchange("allocate", message, bytes);
}

const void* WorldView::exchanged(int pe) const { return job_.world_state().exchanged(pe); }

void WorldView::agree_on_buffer(std::size_t bytes, std::size_t parts, std::uint64_t hash_of_parts) {
    job_.world_state().agree(core::call_record("register", bytes, 0, parts, hash_of_parts));
}

void WorldView::wait_like_a_start(const std::function<bool()>& ready) {
    const detail::WaitReason reason{.operation = "allocate"};
    const core::StartWaits::Scope bounded(job_.waits().at_start);
    detail::wait(job_, 0, reason, -1, ready);
}

void WorldView::abort(const std::string& text) { core::end_job(job_, text); }

void WorldView::set_host_check(device::Watch& watch) { stream::set_host_check(job_, watch); }

}  // namespace atl::stream
