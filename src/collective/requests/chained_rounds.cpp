// The rounds of an all_reduce that passes from host to host.
#include "collective/requests/rounds.hpp"

#include <cstring>

namespace atl::requests {

/// A fold is given once it is folded.
bool Rounds::may_pass(const Request& request) const {
    const Chain& chain = *request.chain;
    const Chain::Chunk given = chain.given(request.published);
    return !given || request.consumed > chain.round_of(*given);
}

/// The place of this member's fold of a chunk until it is given.
char* Rounds::kept_fold(const Request& request, std::uint32_t chunk) {
    const Chain& chain = *request.chain;
    if (chain.is_on_last_host()) return request.call.out[0].data + chain.slice(chunk, chain.lane()).at;
    folds_.resize(Chain::n_folds() * chain.fold_bytes());
    return folds_.data() + Chain::fold_slot(chunk) * chain.fold_bytes();
}

/// True if members of this host read what this one gives in the round that it publishes.
bool Rounds::is_read_here(const Request& request) const {
    const Chain& chain = *request.chain;
    const std::uint32_t round = request.published;
    return chain.folded(round) || (chain.is_on_last_host() && chain.given(round));
}

void Rounds::write_in_chain(const Request& request, const Area& area, std::uint64_t round) {
    const Chain& chain = *request.chain;
    const far::Hosts& hosts = members_.far()->hosts();
    char* const slot = area.slot(round);
    const Chain::Chunk own = chain.folded(request.published), given = chain.given(request.published);
    if (own && hosts.members(hosts.mine()).size() > 1) {
        const Slice all = chain.chunk(*own);
        std::memcpy(slot, request.call.in[0].data + all.at, all.bytes);
    }
    if (given) {
        const std::size_t bytes = chain.slice(*given, chain.lane()).bytes;
        if (bytes == 0) return;
        std::memcpy(slot, kept_fold(request, *given),
                    chain.is_on_last_host() ? bytes : bytes * chain.widening());
    }
}

void Rounds::pass_in_chain(const Request& request, const Area& area, std::uint64_t round) {
    const Chain& chain = *request.chain;
    const Chain::Chunk given = chain.given(request.published);
    if (!given) return;
    far::FarMembers& far = *members_.far();
    const far::Hosts& hosts = far.hosts();
    const std::size_t bytes = chain.slice(*given, chain.lane()).bytes;
    const auto* const word = &area.head().headers[round % n_slots].round;
    if (!chain.is_on_last_host()) {
        const int next = hosts.members(hosts.mine() + 1)[std::size_t(chain.lane())];
        far.pass_with_word(next, area.slot(round), bytes * chain.widening(), word);
        return;
    }
    for (int host = 0; host < hosts.mine(); ++host) far.pass_to_host(host, area.slot(round), bytes, word);
}

/// True if the member gives finished slices in the current round, or data that this one folds.
bool Rounds::reads_in_chain(const Request& request, int member) const {
    const Chain& chain = *request.chain;
    const far::Hosts& hosts = members_.far()->hosts();
    const int host = hosts.host_of(member), local_rank = hosts.local_rank(member);
    if (host + 1 == hosts.n() && local_rank < chain.lanes() && chain.finished(request.consumed)) return true;
    if (!chain.leads() || !chain.folded(request.consumed)) return false;
    return host == hosts.mine() || (host + 1 == hosts.mine() && local_rank == chain.lane());
}

void Rounds::copy_finished(const Request& request, int member) {
    const Chain& chain = *request.chain;
    const far::Hosts& hosts = members_.far()->hosts();
    const Chain::Chunk chunk = chain.finished(request.consumed);
    const int lane = hosts.local_rank(member);
    if (!chunk || hosts.host_of(member) + 1 != hosts.n() || lane >= chain.lanes()) return;
    const Slice slice = chain.slice(*chunk, lane);
    if (slice.bytes == 0) return;
    const char* const from = data_of(request, member, request.consumed, slice.bytes);
    std::memcpy(request.call.out[0].data + slice.at, from, slice.bytes);
}

/// Folds this member's slice over the members of its host, after those of the hosts before.
void Rounds::fold_in_chain(const Request& request) {
    const Chain& chain = *request.chain;
    const Chain::Chunk chunk = chain.folded(request.consumed);
    if (!chunk || !chain.leads()) return;
    const far::Hosts& hosts = members_.far()->hosts();
    const std::vector<int>& here = hosts.members(hosts.mine());
    const std::uint64_t round = base_ + request.consumed;
    const Slice all = chain.chunk(*chunk), slice = chain.slice(*chunk, chain.lane());
    const auto source = [&](int i) -> const char* {
        const int member = here[std::size_t(i)];
        if (member == members_.rank()) return request.call.in[0].data + slice.at;
        return members_.area(member).slot(round) + (slice.at - all.at);
    };
    Folding::Part part;
    if (hosts.mine() > 0) {
        const int before = hosts.members(hosts.mine() - 1)[std::size_t(chain.lane())];
        part.so_far = members_.area(before).slot(round);
    }
    if (chain.is_on_last_host()) part.n_in_all = members_.n();
    if (slice.bytes == 0) return;
    request.folding.fold_part(part, static_cast<int>(here.size()), source, slice.bytes,
                              kept_fold(request, *chunk));
}

}  // namespace atl::requests
