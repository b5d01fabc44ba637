#include "core/sync/job_over.hpp"

#include <string>

namespace atl::core {

void throw_over(const JobState& job, std::string_view during) {
    throw Error(ErrorCode::pe_died,
                std::string(job.board().header().abort_text) + " (noticed in " + std::string(during) + ")");
}

}  // namespace atl::core
