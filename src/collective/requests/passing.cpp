// Data that members pass on to those of other hosts.
#include "collective/requests/rounds.hpp"

namespace atl::requests {

/// Passes on a round to the members of other hosts: the data that they read, then the header.
void Rounds::pass_round(const Request& request, const Area& area, std::uint64_t round) {
    far::FarMembers& far = *members_.far();
    const SlotHeader& header = area.head().headers[round % n_slots];
    const std::uint32_t index = request.published;
    const bool pieces = passes_pieces(request, index);
    const Span shared = request.sends && !pieces ? shared_piece(request, index) : Span{};
    for (int i = 0; i < members_.n(); ++i) {
        if (!far.is_far(i)) continue;
        const char* data = area.slot(round);
        std::size_t bytes = 0;
        if (request.sends && pieces) {
            if (request.call.kind == Kind::all_to_all && index == 0)
                far.pass(i, area.sizes(round) + i, sizeof *area.sizes(round));
            data += std::size_t(i) * request.piece;
            bytes = part(request, span_for(request.call.in, i), index, i).bytes;
        } else if (shared.bytes > inline_bytes && is_read_by(request, i)) {
            bytes = shared.bytes;
        }
        // Only the first round's header is compared.
        if (index > 0 && bytes > 0) {
            far.pass_with_word(i, data, bytes, &header.round);
            continue;
        }
        far.pass(i, data, bytes);
        far.pass_word(i, &header.bytes, sizeof header - sizeof header.round, &header.round);
    }
}

/// The same where data for all members cross the network once for each host. All members compare the first
/// header.
void Rounds::pass_once(const Request& request, const Area& area, std::uint64_t round) {
    const std::uint32_t index = request.published;
    if (!request.chain && !passes_once(request, index)) return pass_round(request, area, round);
    far::FarMembers& far = *members_.far();
    const SlotHeader& header = area.head().headers[round % n_slots];
    for (int i = 0; index == 0 && i < members_.n(); ++i)
        if (far.is_far(i))
            far.pass_word(i, &header.bytes, sizeof header - sizeof header.round, &header.round);
    if (!request.sends) return;
    if (request.chain) return pass_in_chain(request, area, round);
    const Span piece = shared_piece(request, index);
    for (int host = 0; host < far.n_hosts(); ++host)
        if (host != far.hosts().mine()) far.pass_to_host(host, area.slot(round), piece.bytes, &header.round);
}

/// True if all members read the same data of the round, which cross the network once for each host.
bool Rounds::passes_once(const Request& request, std::uint32_t round) const {
    if (request.chain) return request.chain->finished(round).has_value();
    return request.shared && !passes_pieces(request, round);
}

/// True if the member's data of the current round arrive in the copy that this host's members share.
bool Rounds::reads_shared(const Request& request, int member) const {
    return members_.is_far(member) && passes_once(request, request.consumed);
}

}  // namespace atl::requests
