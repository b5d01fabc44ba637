#include "collective/requests/chain.hpp"

#include "collective/members/area.hpp"

#include <algorithm>

namespace atl::requests {

bool Chain::suits(const far::Hosts& hosts, const Folding& folding) {
    // Each host adds a turn of all hosts to the way of a chunk, and a turn may not be longer than the slots
    // last.
    if (hosts.n() > static_cast<int>(n_slots) / 2) return false;
    // From host to host, each host passes its fold on and gets a finished one. Slices go from each member of
    // a host to each of another, and back.
    return hosts.are_in_rank_order() && folding.widening() + 1 < 2 * std::size_t(hosts.least_members());
}

Chain::Chain(const far::Hosts& hosts, const Folding& folding, std::size_t bytes, int rank)
    : n_hosts_(static_cast<std::uint32_t>(hosts.n())),
      host_(static_cast<std::uint32_t>(hosts.mine())),
      lanes_(hosts.least_members()),
      lane_(hosts.local_rank(rank)),
      bytes_(bytes),
      widening_(folding.widening()) {
    const std::size_t parts = std::max(std::size_t(lanes_), widening_);
    piece_ = slot_bytes / parts / line_of_area * line_of_area;
    const std::size_t whole = piece_ * std::size_t(lanes_);
    chunks_ = static_cast<std::uint32_t>((bytes + whole - 1) / whole);
}

Chain::Chunk Chain::at_stage(std::uint32_t round, std::uint32_t stage, std::uint32_t hosts_before) const {
    const std::uint32_t turn = round / n_hosts_, wait = hosts_before * lag;
    if (round % n_hosts_ != stage || turn < wait || turn - wait >= chunks_) return {};
    return turn - wait;
}

Slice Chain::chunk(std::uint32_t chunk) const {
    const std::size_t whole = piece_ * std::size_t(lanes_), at = chunk * whole;
    return {at, std::min(whole, bytes_ - at)};
}

Slice Chain::slice(std::uint32_t chunk, int lane) const {
    const auto lanes = std::size_t(lanes_);
    const Slice all = this->chunk(chunk);
    const std::size_t each = (all.bytes + lanes * line_of_area - 1) / (lanes * line_of_area) * line_of_area;
    const std::size_t at = std::min(each * std::size_t(lane), all.bytes);
    return {all.at + at, std::min(each, all.bytes - at)};
}

}  // namespace atl::requests
