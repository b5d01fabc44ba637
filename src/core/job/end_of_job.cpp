#include "core/job/end_of_job.hpp"

#include "core/job/job_state.hpp"

namespace atl::core {

void end_job(JobState& job, const std::string& sentence) { end_job(job, sentence, job.pe()); }

void end_job(JobState& job, const std::string& sentence, int pe) {
    constexpr int status = 1;
    job.board().abort(pe, status, sentence);
    job.bootstrap().abort(status, sentence);
}

}  // namespace atl::core
