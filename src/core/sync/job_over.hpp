// The check of loops that do long work without a wait: they too end when the job has ended.
#pragma once

#include "atoll/export.hpp"
#include "core/job/job_state.hpp"

#include <atomic>
#include <string_view>

namespace atl::core {

/// Throws pe_died with the reason that the job board has. `during` is the call that noticed it.
[[noreturn]] ATOLL_API void throw_over(const JobState& job, std::string_view during);

/// Throws so if the job has ended. Costs a load of a cache line without writers.
inline void throw_if_over(const JobState& job, const char* during) {
    if (job.board().header().abort.load(std::memory_order_acquire) != 0) [[unlikely]]
        throw_over(job, during);
}

}  // namespace atl::core
