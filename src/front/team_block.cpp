#include "atoll/detail/team_block.hpp"

#include "core/job/job_state.hpp"

#include <algorithm>

namespace atl::detail {

TeamBlock::TeamBlock(Team team, std::size_t bytes) : team_(std::move(team)) {
    core::JobState& job = team_.state().job();
    job_ = job.weak_from_this();
    if (team_.n_pes() == job.n_pes()) {
        const Allocation block = job.heap().zeroed(std::max(bytes, std::size_t{1}), 0, {});
        address_ = block.address;
        serial_ = block.serial;
    } else {
        span_ = job.heap().reserved().take(team_, bytes);
        address_ = span_->address;
    }
}

void TeamBlock::free() {
    if (address_ == nullptr) return;
    const std::shared_ptr<core::JobState> job = job_.lock();
    if (!span_ || !job) {  // the first throws an error if the job has been finalized
        // free completes the world team's puts itself.
        if (job && &team_.state() != &job->world_state()) team_.context().quiet();
        Job(job).free(address_);
    } else {
        team_.barrier();
        job->heap().reserved().release(*span_);
        span_.reset();
    }
    address_ = nullptr;
}

void TeamBlock::drop() noexcept {
    if (address_ == nullptr) return;
    if (span_)
        span_->is_used = false;
    else if (const std::shared_ptr<core::JobState> job = job_.lock()) {
        job->heap().reserved().note_dropped(team_);
        job->heap().drop(serial_);
    }
    span_.reset();
    address_ = nullptr;
}

}  // namespace atl::detail
