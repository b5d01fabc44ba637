// TeamServer: a team's collectives and messages on streams if a transport reaches some of its members. It
// makes the host's calls on copies, on the team's twin. Each of the two kinds has a ring and a thread. A
// wait for other PEs delays only later calls of its kind on its team, which would wait on a GPU, too.
#pragma once

#include "atoll/team.hpp"
#include "stream/stream_server.hpp"
#include "stream/stream_team.hpp"

#include <list>
#include <mutex>
#include <vector>

namespace atl::stream {

/// Serves the teams that have a given kernel place, one after another. Rings continue from their last ticket.
class TeamServer {
  public:
    /// The ring and tickets of one kind of request; see gpu::FarCall.
    struct Queue {
        gpu::FarRing* ring;
        unsigned long long* tickets;
    };
    TeamServer(core::JobState& job, const gpu::DeviceMemory& device, const Queue& collectives,
               const Queue& messages);

    /// Sets the team that requests are for from now on.
    void serve(core::TeamState& team) { server_team_.store(&team.server_team()); }
    /// Releases a team that ends and has no work on streams, nor in graphs.
    void forget();

    void start(const device::Team& team, const GroupArguments& arguments, gpu::StreamHandle stream);
    void start(const device::Team& team, std::vector<MessageGroup::Message> messages,
               gpu::StreamHandle stream);

  private:
    /// The messages of one call; those of graphs are kept until the team ends.
    struct Kept {
        std::vector<MessageGroup::Message> messages;
        bool once;
    };
    void run_group(const gpu::FarRequest& request, const gpu::Lane& lane) const;
    void run_messages(const gpu::FarRequest& request, const gpu::Lane& lane);

    const gpu::DeviceMemory& device_;
    std::atomic<core::TeamState*> server_team_{nullptr};
    std::mutex mutex_;  // guards kept_
    std::list<Kept> kept_;
    StreamServer collectives_, messages_;  // last: their threads use the other members
};

}  // namespace atl::stream
