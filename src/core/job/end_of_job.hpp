// The end of a job because of an error that one PE has found.
#pragma once

#include <string>

namespace atl::core {

class JobState;

/// Ends the job with status 1: writes the reason to the job board, and passes it to the launcher or PE 0.
/// Returns; the PEs end as they notice. `pe`: the PE that is at fault, by default this one. Safe in any
/// thread.
void end_job(JobState& job, const std::string& sentence);
void end_job(JobState& job, const std::string& sentence, int pe);

}  // namespace atl::core
