// How far members are: the counts of consumed rounds, by which others find free slots, and members that are
// awaited.
#include "collective/requests/rounds.hpp"

#include <algorithm>

namespace atl::requests {
namespace {

/// Consumed rounds after which members of other hosts are notified. Half of the slots stay free for their
/// next rounds.
constexpr std::uint64_t rounds_a_pass = n_slots / 2;

}  // namespace

bool Rounds::has_room(const Request& request, std::uint64_t round) {
    if (round < free_until_) return true;
    std::uint64_t least = ~std::uint64_t{0};
    for (int i = 0; i < members_.n(); ++i) {
        if (i == members_.rank() || (counts_by_host(request) && members_.is_far(i))) continue;
        const Area& area = members_.area(i);
        least = std::min(least, area ? area.head().consumed.value.load(std::memory_order_acquire) : 0);
    }
    for (int host = 0; counts_by_host(request) && host < members_.far()->n_hosts(); ++host)
        least = std::min(least, far_progress(request, host));
    free_until_ = least == ~std::uint64_t{0} ? round + 1 : least + n_slots;
    return round < free_until_;
}

/// True if the member gives data that cross the network once for each host.
bool Rounds::passes_to_hosts(const Request& request, int member) const {
    if (request.call.kind == Kind::broadcast) return member == request.call.root;
    if (!request.chain) return true;
    const far::Hosts& hosts = members_.far()->hosts();
    return hosts.host_of(member) + 1 == hosts.n() && hosts.local_rank(member) < request.chain->lanes();
}

/// Rounds that all members of a host have consumed. One of them passes it on during a call, and each its own
/// at the end.
std::uint64_t Rounds::progress_of(int host) {
    const far::Hosts& hosts = members_.far()->hosts();
    std::uint64_t least = ~std::uint64_t{0};
    for (const int i : hosts.members(host))
        least = std::min(least, members_.area(i).head().consumed.value.load(std::memory_order_acquire));
    if (host == hosts.mine()) return least;
    const Area& receiver = members_.area(hosts.receiver(host, members_.rank()));
    return std::max(least, receiver.head().host_consumed.value.load(std::memory_order_acquire));
}

/// Rounds for which no member of another host needs this one's slots any longer.
std::uint64_t Rounds::far_progress(const Request& request, int host) {
    const far::Hosts& hosts = members_.far()->hosts();
    std::uint64_t least = ~std::uint64_t{0};
    if (host == hosts.mine()) return least;
    // All members compare the first header, so until it is sent every host counts.
    if (request.published == 0 || passes_to_hosts(request, members_.rank())) least = progress_of(host);
    if (request.chain && request.chain->leads() && host == hosts.mine() + 1) {
        const int next = hosts.members(host)[std::size_t(request.chain->lane())];
        least = std::min(least, members_.area(next).head().consumed.value.load(std::memory_order_acquire));
    }
    return least;
}

/// Passes on that this member has consumed a round, to members that may wait for it.
void Rounds::pass_consumed(const Request& request) {
    const Counter& consumed = members_.mine().head().consumed;
    const bool passes = (base_ + request.consumed) % rounds_a_pass == 0;
    const bool ends = request.consumed == request.rounds;
    if (!counts_by_host(request)) {
        if (passes) members_.pass_to_all(&consumed);
        members_.ring_all();
        return;
    }
    if (ends) members_.pass_to_all(&consumed);
    const far::Hosts& hosts = members_.far()->hosts();
    if (passes && !ends && request.chain && request.chain->leads() && hosts.mine() > 0) {
        const int before = hosts.members(hosts.mine() - 1)[std::size_t(request.chain->lane())];
        members_.far()->pass_word(before, nullptr, 0, &consumed);
    }
    if (passes || ends) members_.ring_all();
}

/// Passes on what its host has consumed, to the members from which this one receives.
void Rounds::pass_host_consumed(const Request& request) {
    const far::Hosts& hosts = members_.far()->hosts();
    const std::uint64_t least = progress_of(hosts.mine());
    if (least / rounds_a_pass == announced_ / rounds_a_pass) return;
    announced_ = least;
    Counter& word = members_.mine().head().host_consumed;
    word.value.store(least, std::memory_order_release);
    for (int i = 0; i < members_.n(); ++i) {
        if (!members_.is_far(i) || !passes_to_hosts(request, i)) continue;
        if (hosts.receiver(hosts.mine(), i) == members_.rank())
            members_.far()->pass_word(i, nullptr, 0, &word);
    }
}

/// True if this member could publish, but for the member's count, or that of the member's host.
bool Rounds::waits_for_room(const Request& request, int member) {
    if (request.published >= request.rounds || !may_publish(request)) return false;
    const std::uint64_t round = base_ + request.published;
    const bool by_host = counts_by_host(request) && members_.is_far(member);
    // One that has ended well has passed on its own count, also if the rest of its host is behind.
    std::uint64_t consumed = members_.area(member).head().consumed.value.load(std::memory_order_acquire);
    if (by_host)
        consumed = std::max(consumed, far_progress(request, members_.far()->hosts().host_of(member)));
    return consumed <= round && consumed + n_slots <= round;
}

// ---- members for which a request waits

/// True if the member's data of the current round are in this host's memory.
bool Rounds::is_here(const Request& request, int member) {
    const std::uint64_t round = base_ + request.consumed;
    const auto is_in = [&](const Area& area) {
        return area.head().headers[round % n_slots].round.load(std::memory_order_acquire) >= round + 1;
    };
    const bool shared = reads_shared(request, member);
    if ((!shared || request.consumed == 0) && !is_in(members_.area(member))) return false;
    return !shared || is_in(members_.shared(member));
}

/// The member named for data of `member` that have not come.
int Rounds::awaited_for(const Request& request, int member, bool for_ends) {
    const auto has_called = [&](int i) {
        return members_.area(i).head().headers[base_ % n_slots].round.load(std::memory_order_acquire) > base_;
    };
    if (!reads_shared(request, member)) return member;
    if (request.consumed == 0 && !has_called(member)) return member;  // it announces its call itself
    const far::Hosts& hosts = members_.far()->hosts();
    const int receiver = hosts.receiver(hosts.mine(), member);
    if (receiver == members_.rank()) return member;
    // A receiver that has not called does not receive.
    return for_ends || !has_called(receiver) ? receiver : member;
}

std::vector<int> Rounds::missing(const Request& request, bool for_ends) {
    std::vector<int> ranks;
    if (!request.started) return ranks;
    for (int i = 0; i < members_.n(); ++i) {
        if (i == members_.rank()) continue;
        const Area& area = members_.area(i);
        bool waits = !area || waits_for_room(request, i);
        if (area && request.in_place && is_read_by(request, i)) waits = waits || !has_read_all(request, i);
        if (waits) ranks.push_back(i);
        if (!area || request.consumed >= request.rounds || !awaits(request, i) || is_here(request, i))
            continue;
        ranks.push_back(awaited_for(request, i, for_ends));
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
}

}  // namespace atl::requests
