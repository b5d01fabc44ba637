// TeamRanges: the memory of teams for collectives and messages on streams, in this PE's slot.
#pragma once

#include "gpu/heap/stream_range.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::gpu {

/// One block of the device heap, with a range for each team, and words that count tickets.
class TeamRanges {
  public:
    struct Range {
        char* address;
        unsigned words_bytes;
        char* messages;
        std::size_t bytes;
    };

    struct Sizes {
        int n_pes = 0;                ///< PEs of the job
        std::size_t teams_bytes = 0;  ///< for all teams but the world team
        std::size_t most_teams = 1;   ///< with servers of their own
    };

    TeamRanges() = default;
    /// `start` is a block of `bytes(sizes)`.
    TeamRanges(char* start, const Sizes& sizes) : start_(start), sizes_(sizes) {}
    static std::size_t bytes(const Sizes& sizes);

    /// The memory of the world team.
    Range world() const noexcept;
    /// The memory of another team, which has this range.
    Range of(int n_pes, const StreamRange& range) const noexcept;
    /// Two words in this GPU's memory for the requests of a team, by its number among those with servers;
    /// zero at first.
    unsigned long long* team_tickets(std::size_t team) const noexcept;
    /// The word for the requests of single operations; zero at first.
    unsigned long long* tickets() const noexcept;

  private:
    char* start_ = nullptr;  ///< null until DeviceMemory::reserve_group_memory
    Sizes sizes_;
};

}  // namespace atl::gpu
