// State of the collectives of a member of a team: the choice of algorithms, and staging memory that the
// others can access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "collective/array_location.hpp"
#include "collective/copy_choice.hpp"
#include "collective/table.hpp"
#include "core/job/job_state.hpp"
#include "core/team/team_state.hpp"

namespace atl::collective {

/// Staging memory has two halves that are used alternately. A half is written again two uses later. By then
/// its owner has met all members once more, and they have finished reading it. Staging therefore needs no
/// synchronization at the end of a collective.
inline constexpr std::size_t half_bytes = 256 * 1024;
/// The most bytes that a PE fetches at once from other hosts.
inline constexpr std::size_t fetched_bytes = 1024 * 1024;

class State final : public core::TeamAttachment {
  public:
    /// The state of this PE as a member of `team`, made on first use.
    static State& of(core::TeamState& team);

    explicit State(core::TeamState& team);
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    /// Frees the staging memory. The destructor does not: if a handle is dropped without destroy, other
    /// members may still read.
    void release() noexcept override;

    core::TeamState& team() const { return team_; }
    core::JobState& job() const { return job_; }
    int my_pe() const { return team_.my_pe(); }
    int n_pes() const { return team_.n_pes(); }
    /// The kind of elements that this PE's call moves, see core/team/elements.hpp.
    std::uint64_t elements() const { return team_.elements; }
    bool is_oversubscribed() const { return team_.meetings().is_oversubscribed(); }

    Algorithm choose(Collective collective, std::size_t bytes, std::size_t line_bytes) const {
        return choices_.choose(collective, bytes, line_bytes);
    }

    /// True if others can access [p, p + bytes).
    bool reachable(const void* p, std::size_t bytes) const { return job_.window().shares(p, bytes); }
    /// The offset in this PE's slot of `p`, which others can access.
    std::uint64_t offset_of(const void* p) const { return job_.window().offset_of(p); }
    /// The same for an array of `bytes`. An empty one, which may be null or the end of an array, gets offset
    /// 0.
    std::uint64_t offset_of(const void* p, std::size_t bytes) const { return bytes == 0 ? 0 : offset_of(p); }
    /// True if [offset, offset + bytes) is within a slot, so that reading it is safe.
    bool is_in_slot(std::uint64_t offset, std::size_t bytes) const {
        const std::uint64_t slot = std::uint64_t{1} << job_.window().stride_log2;
        return offset <= slot && bytes <= slot - offset;
    }
    CopyChoices& copies() { return copies_; }
    /// Null where all members share memory.
    core::Spread* spread() const { return team_.spread(); }
    bool is_far(int member) const { return spread() && !spread()->is_local(member); }
    /// The address of `offset` in the slot of a member that is not far.
    char* at(int member, std::uint64_t offset) const {
        return static_cast<char*>(job_.arena().address(team_.world_pe(member), offset));
    }

    /// This PE's staging memory; null if the arena has no room for it.
    char* staging() noexcept;
    /// Memory in which members of this PE's host gather data fetched from other hosts: two halves of
    /// `fetched_bytes`. Collective among these members. Null on all if there is no room.
    char* fetched();
    int next_fetch() { return fetch_half_ ^= 1; }
    /// Selects the half for the next use: 0 or 1.
    int next_half() { return half_ ^= 1; }

  private:
    core::TeamState& team_;
    core::JobState& job_;
    Choices choices_;
    CopyChoices copies_;
    char* staging_ = nullptr;
    int half_ = 0;
    char* fetched_ = nullptr;
    bool fetched_asked_ = false, fetched_owned_ = false;
    int fetch_half_ = 0;
};

}  // namespace atl::collective
