#include "core/sync/update_locks.hpp"

#include "core/job/job_state.hpp"
#include "core/sync/job_over.hpp"

namespace atl::core {

UpdateLock::UpdateLock(JobState& job, UpdateWord& word, const char* operation)
    : word_(word), mark_(static_cast<std::uint32_t>(job.pe()) + 1) {
    throw_if_over(job, operation);  // a loop of additions may never wait
    if (try_enter()) return;
    detail::WaitReason why;
    why.operation = operation;
    why.subject = "another addition to the same part of a distributed array";
    why.missing = &UpdateLock::holder;
    why.argument = this;
    why.missing_as = "adding there";
    detail::wait(job, job.pace().spins, why, -1, [this] { return try_enter(); });
}

/// True if the word is held now, or closed.
bool UpdateLock::try_enter() noexcept {
    std::uint32_t found = word_.load(std::memory_order_acquire);  // a waiting PE shares the cache line
    if (found == 0) is_held_ = word_.compare_exchange_strong(found, mark_, std::memory_order_acq_rel);
    return is_held_ || found == closed_updates;
}

/// The PE that holds the word; none if another thread of this PE does.
int UpdateLock::holder(const void* argument, int* pes, int most) {
    const auto& lock = *static_cast<const UpdateLock*>(argument);
    const std::uint32_t found = lock.word_.load(std::memory_order_acquire);
    if (found == 0 || found == closed_updates || found == lock.mark_ || most < 1) return 0;
    pes[0] = static_cast<int>(found) - 1;
    return 1;
}

void close_updates(JobState& job, std::uint64_t serial) {
    const std::uint64_t offset = job.arena().offset(update_word(job.arena().updates(), serial));
    for (int pe = 0; pe < job.n_pes(); ++pe)
        if (auto* const word = static_cast<UpdateWord*>(job.arena().address(pe, offset)))
            UpdateLock(job, *word, "accumulate").close();
}

}  // namespace atl::core
