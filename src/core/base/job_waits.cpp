#include "core/base/job_waits.hpp"

#include <utility>

namespace atl::core {

void JobWaits::end() noexcept {
    over_.store(true, std::memory_order_seq_cst);
    end_requests();
}

void JobWaits::end_requests() noexcept {
    std::vector<std::weak_ptr<EndsWithJob>> ending;
    {
        const std::lock_guard lock(mutex_);
        ending.swap(end_with_job_);
    }
    for (const std::weak_ptr<EndsWithJob>& one : ending)
        if (const std::shared_ptr<EndsWithJob> alive = one.lock()) alive->end_with_job();
}

void JobWaits::add(std::weak_ptr<EndsWithJob> one) {
    const std::lock_guard lock(mutex_);
    std::erase_if(end_with_job_, [](const auto& other) { return other.expired(); });
    end_with_job_.push_back(std::move(one));
}

}  // namespace atl::core
