#include "core/job/allocation_call.hpp"

#include "atoll/job.hpp"
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"

namespace atl::core {

AllocationCall::AllocationCall(const Job& job) : within_(job.state().world_state().meetings(), "allocate") {}
AllocationCall::~AllocationCall() = default;

}  // namespace atl::core
