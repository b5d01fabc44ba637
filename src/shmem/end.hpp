// How a PE ends when its job does.
#pragma once

#include <string>

#include "atoll/job.hpp"

namespace atl::shmem {

/// From now on this PE ends with the job, whatever it computes, and flushes its streams before.
void follow_end_of(Job& job);
/// Until here; waits for the thread that does it.
void stop_following();

/// Ends the process with the job's status if another PE or the launcher has ended the job. They have said
/// why.
void leave_if_over(Job* job);
/// Says the sentence, ends the job and this process.
[[noreturn]] void end_job(Job* job, int status, const std::string& sentence);

}  // namespace atl::shmem
