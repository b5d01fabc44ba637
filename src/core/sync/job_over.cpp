#include "core/sync/job_over.hpp"

namespace atl::core {

void throw_over(const JobState& job, const std::string& during) {
    throw Error(ErrorCode::pe_died,
                std::string(job.board().header().abort_text) + " (noticed in " + during + ")");
}

}  // namespace atl::core
