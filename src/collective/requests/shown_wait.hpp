// ShownWait: a long wait for an operation of a group, as the job board shows it.
#pragma once

#include "collective/requests/group.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace atl::requests {

class ShownWait {
  public:
    /// The wait began at `since_ns`. Nothing is shown for groups outside a launcher's job.
    ShownWait(Group& group, const RequestPtr& request, std::uint64_t since_ns,
              common::HostWait how = common::HostWait::sleeps)
        : group_(group),
          request_(request),
          since_ns_(since_ns),
          has_site_(how != common::HostWait::pending),
          wait_(group.members().membership().own_entry, how) {}

    /// Shows the wait as it is now. The first call reads the place in the program, of which the thread of a
    /// pending operation knows nothing.
    void show();

  private:
    Group& group_;
    const RequestPtr& request_;
    const std::uint64_t since_ns_;
    std::string site_;
    const bool has_site_;
    bool is_site_final_ = false;
    bootstrap::OwnEntry::Wait wait_;
};

/// The oldest collective of a group, if no call of ours waits for it.
class ShownPending {
  public:
    explicit ShownPending(Group& group) : group_(group) {}
    /// Call now and then while no thread waits. Shows a collective that is pending for long.
    void show();
    void hide() {
        shown_.reset();
        request_.reset();
    }

  private:
    Group& group_;
    RequestPtr request_;
    std::uint64_t since_ns_ = 0;
    std::optional<ShownWait> shown_;
};

}  // namespace atl::requests
