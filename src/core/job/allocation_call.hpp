// AllocationCall: the meetings of an allocation as one call in statistics and reports.
#pragma once

#include "atoll/export.hpp"
#include "core/team/meetings.hpp"

namespace atl {
class Job;
}

namespace atl::core {

/// For fronts that fill the new memory themselves, and meet afterwards. It ends with this object.
class AllocationCall {
  public:
    ATOLL_API explicit AllocationCall(const Job& job);
    ATOLL_API ~AllocationCall();
    AllocationCall(const AllocationCall&) = delete;
    AllocationCall& operator=(const AllocationCall&) = delete;

  private:
    Meetings::Within within_;
};

}  // namespace atl::core
