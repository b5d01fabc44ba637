// A team's collectives and messages on streams where a transport reaches some of its members: the host's own,
// on copies, by the team's twin. Each of the two kinds has a ring and a thread, so a call that waits for
// other PEs holds up nothing but later calls of its kind on its team, which on a GPU would wait for it too.
#pragma once

#include "atoll/team.hpp"
#include "core/stream_server.hpp"
#include "core/stream_team.hpp"

#include <list>
#include <mutex>
#include <vector>

namespace atl::core {

/// For the teams that have a kernel place, one after another: rings go on where they are.
class TeamServer {
  public:
    /// What requests of one kind go by; see heap::FarCall.
    struct Way {
        heap::FarRing* ring;
        unsigned long long* tickets;
    };
    TeamServer(JobState& job, const DeviceMemory& device, const Way& collectives, const Way& messages);

    /// The team that requests are for, from now on.
    void serve(TeamState& team) { twin_.store(&team.twin()); }
    /// The team ends: nobody has work of it on streams, nor graphs.
    void forget();

    void start(const device::Team& team, const GroupArguments& arguments, heap::StreamHandle stream);
    void start(const device::Team& team, std::vector<MessageGroup::Message> messages,
               heap::StreamHandle stream);

  private:
    /// Of one call; those of graphs stay until the team ends.
    struct Kept {
        std::vector<MessageGroup::Message> messages;
        bool once;
    };
    void run_group(const heap::FarRequest& request, const DeviceMemory::Lane& lane) const;
    void run_messages(const heap::FarRequest& request, const DeviceMemory::Lane& lane);

    const DeviceMemory& device_;
    std::atomic<TeamState*> twin_{nullptr};
    std::mutex mutex_;  // of kept_
    std::list<Kept> kept_;
    StreamServer collectives_, messages_;  // last: their threads use the others
};

}  // namespace atl::core
