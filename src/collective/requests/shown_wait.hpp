// ShownWait: a long wait for an operation of a group, as the job board shows it.
#pragma once

#include "collective/requests/group.hpp"

#include <cstdint>
#include <string>

namespace atl::requests {

class ShownWait {
  public:
    /// The wait began at `since_ns`. Nothing is shown for groups outside a launcher's job.
    ShownWait(Group& group, const RequestPtr& request, std::uint64_t since_ns)
        : group_(group), request_(request), since_ns_(since_ns), wait_(group.members().membership().seat) {}

    /// Shows the wait as it is now. The first call reads the place in the program.
    void show();

  private:
    Group& group_;
    const RequestPtr& request_;
    const std::uint64_t since_ns_;
    std::string site_;
    bool is_placed_ = false;
    bootstrap::Seat::Wait wait_;
};

}  // namespace atl::requests
