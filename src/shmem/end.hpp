// The end of a PE when its job ends.
#pragma once

#include <string>

#include "atoll/job.hpp"

namespace atl::shmem {

/// Starts a thread that ends this PE when the job is aborted, even while the PE computes. It flushes the PE's
/// streams first.
void follow_end_of(Job& job);
/// Stops the thread of follow_end_of and waits for its end.
void stop_following();

/// Ends the process with the job's status if another PE or the launcher has ended the job. The reason has
/// been reported already.
void leave_if_over(Job* job);
/// Reports the sentence, ends the job and this process.
[[noreturn]] void end_job(Job* job, int status, const std::string& sentence);

}  // namespace atl::shmem
