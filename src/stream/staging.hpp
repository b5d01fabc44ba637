// Staging: collectives and messages on streams, for arrays outside the device heap. Large ones travel through
// symmetric memory of the group, so no other member needs an array's address.
#pragma once

#include "atoll/team.hpp"
#include "stream/stream_team.hpp"

#include <cstddef>
#include <vector>

namespace atl::stream {

class Staging {
  public:
    /// `stage` is symmetric memory on the GPU, `bytes` long, for this object alone.
    Staging(const Team& team, char* stage, std::size_t bytes) : team_(team), stage_(stage), bytes_(bytes) {}

    /// Enqueues a collective. All members make the same calls in the same order. The arrays are memory that
    /// the GPU can access. They may be one array in reductions, in broadcast and in an own block. Throws the
    /// errors of StreamTeam's calls.
    void start(const gpu::GroupArguments& arguments, gpu::StreamHandle stream) const;

    struct Message {
        char* data;
        std::size_t bytes;
        int pe;
        bool is_send;
    };
    /// Enqueues messages that progress together. Those with the same member in the same direction keep their
    /// order. A kernel stops with a report if the sizes of the two sides differ. None is to this PE itself.
    void exchange(const std::vector<Message>& messages, gpu::StreamHandle stream) const;
    /// Copies on this PE, in stream order.
    void copy(void* dst, const void* src, std::size_t bytes, gpu::StreamHandle stream) const;

  private:
    core::TeamState& state() const { return team_.state(); }

    Team team_;
    char* stage_;
    std::size_t bytes_;
};

}  // namespace atl::stream
