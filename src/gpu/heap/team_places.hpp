// TeamPlaces: the memory of teams for collectives and messages on streams, in this PE's slot.
#pragma once

#include "gpu/heap/group_pages.hpp"

#include <cstddef>
#include <cstdint>

namespace atl::gpu {

/// One block of the device heap, with a place for each team, and words that count tickets.
class TeamPlaces {
  public:
    struct Place {
        char* address;
        unsigned words_bytes;
        char* messages;
        std::size_t bytes;
    };

    TeamPlaces() = default;
    /// `start` is a block of `bytes(n_pes)`, in a job of `n_pes` PEs.
    TeamPlaces(char* start, int n_pes) : start_(start), n_pes_(n_pes) {}
    static std::size_t bytes(int n_pes);

    /// The memory of the world team.
    Place world() const noexcept;
    /// The memory of another team, which has these pages.
    Place of(int n_pes, const GroupPages& pages) const noexcept;
    /// Two words in this GPU's memory for the requests of a team with this kernel place; zero at first.
    unsigned long long* team_tickets(int kernel_place) const noexcept;
    /// The word for the requests of single operations; zero at first.
    unsigned long long* tickets() const noexcept;

  private:
    char* start_ = nullptr;  ///< null until DeviceMemory::reserve_group_memory
    int n_pes_ = 0;
};

}  // namespace atl::gpu
