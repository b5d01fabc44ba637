// TeamRoom: how the members of a new team find memory for kernels and streams that is free on all of them.
#pragma once

#include "core/base/kernel_memory.hpp"

#include <cstdint>
#include <vector>

namespace atl::core {

class JobBase;

/// A member's proposal: offsets in units of KernelPlaces.
struct RoomOffer {
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    std::uint32_t place = none;     ///< number of its control block
    std::uint32_t room = none;      ///< for collectives on streams
    std::uint32_t words_bytes = 0;  ///< see gpu::GroupRoom; 0: none is wanted
};

/// One member's part. It proposes the lowest range that is free here. If another member proposes a later one,
/// so do all. The ranges stay taken meanwhile, so that threads that split at once get different ones.
class TeamRoom {
  public:
    /// `for_streams`: the team also wants memory for collectives on streams.
    TeamRoom(JobBase& job, int n_pes, bool for_streams);
    const RoomOffer& offer() const { return offer_; }
    /// Makes the next proposal, if those of all members differ.
    void go_on(const std::vector<RoomOffer>& offers);
    /// Gives the team its memory, once the proposals of all members are settled.
    void keep(const std::vector<RoomOffer>& offers, TeamKernels& kernels);

    /// True if these proposals, of all members of a team, need no further round.
    static bool is_settled(const std::vector<RoomOffer>& offers);

  private:
    void propose_place(std::uint64_t from);
    void propose_room(std::uint64_t from);

    int n_pes_;
    gpu::KernelRange place_, room_;
    RoomOffer offer_;
};

}  // namespace atl::core
