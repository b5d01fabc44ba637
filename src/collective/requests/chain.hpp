// Chain: the plan of an all_reduce that passes from host to host, so that data cross the network once each
// way.
#pragma once

#include "collective/members/hosts.hpp"
#include "collective/requests/folding.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace atl::requests {

/// A part of the data.
struct Slice {
    std::size_t at = 0, bytes = 0;
};

/// The data are cut into chunks, and each chunk into a slice for each lane. A lane has a leader on each host.
/// The leader of the first host folds its slice over the members of its host. That of the next host
/// continues with its own members. The last ones pass the finished slices on to all.
///
/// Rounds go around the hosts. In round r the members of host r % n give their own data of a chunk. The
/// leaders of the host before it give their folds of that chunk. Those of the last host give finished
/// slices.
class Chain {
  public:
    /// True if a chain folds in rank order, and passes on less than slices from each member to each do.
    static bool suits(const far::Hosts& hosts, const Folding& folding);
    Chain(const far::Hosts& hosts, const Folding& folding, std::size_t bytes, int rank);

    std::uint32_t rounds() const { return n_hosts_ * (chunks_ - 1 + n_hosts_ * lag) + 1; }
    /// Leaders of a host are its first members.
    int lanes() const { return lanes_; }
    bool leads() const { return lane_ < lanes_; }
    int lane() const { return lane_; }
    bool is_on_last_host() const { return host_ + 1 == n_hosts_; }

    using Chunk = std::optional<std::uint32_t>;
    /// The chunk that this member's host folds in a round.
    Chunk folded(std::uint32_t round) const { return at_stage(round, host_, host_); }
    /// The chunk of which this member gives its fold, if it leads.
    Chunk given(std::uint32_t round) const {
        return leads() ? at_stage(round, (host_ + 1) % n_hosts_, host_ + 1) : Chunk{};
    }
    /// The chunk that is finished.
    Chunk finished(std::uint32_t round) const { return at_stage(round, 0, n_hosts_); }
    /// The round in which this member's host folds a chunk.
    std::uint32_t round_of(std::uint32_t chunk) const { return n_hosts_ * (chunk + host_ * lag) + host_; }

    Slice chunk(std::uint32_t chunk) const;
    Slice slice(std::uint32_t chunk, int lane) const;
    /// The folds that a leader keeps until it gives them, and the most bytes of each.
    static std::size_t fold_slot(std::uint32_t chunk) { return chunk % (lag + 1); }
    static constexpr std::size_t n_folds() { return lag + 1; }
    std::size_t fold_bytes() const { return piece_ * widening_; }
    std::size_t widening() const { return widening_; }

  private:
    /// Turns around the hosts between two hosts' folds of a chunk. The network has this time to carry it.
    static constexpr std::uint32_t lag = 2;

    Chunk at_stage(std::uint32_t round, std::uint32_t stage, std::uint32_t hosts_before) const;

    std::uint32_t n_hosts_, host_, chunks_;
    int lanes_, lane_;
    std::size_t bytes_, piece_, widening_;
};

}  // namespace atl::requests
