#include "collective/requests/rounds.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace atl::requests {
namespace {

constexpr std::size_t least_sliced_bytes = 32 * 1024;
/// From this size on, data that all members of a host read cross the network once for each host.
constexpr std::size_t least_shared_bytes = 64 * 1024, least_shared_sum_bytes = 128 * 1024;
/// Chunks of a sliced all_reduce that travel together: members then wait for each other less often.
constexpr std::uint32_t chunks_together = n_slots / 2;

std::uint32_t rounds_for(std::size_t bytes, std::size_t piece) {
    return static_cast<std::uint32_t>(std::max<std::size_t>((bytes + piece - 1) / piece, 1));
}

std::size_t most_bytes(const std::vector<Span>& spans) {
    std::size_t most = 0;
    for (const Span& span : spans) most = std::max(most, span.bytes);
    return most;
}

std::size_t total_bytes(const std::vector<Span>& spans) {
    std::size_t total = 0;
    for (const Span& span : spans) total += span.bytes;
    return total;
}

/// The part of a span in one round.
Span part_of(const Span& span, std::size_t piece, std::uint32_t round) {
    const std::size_t at = std::min(piece * round, span.bytes);
    return {span.data + at, std::min(piece, span.bytes - at)};
}

void copy_bytes(char* to, const char* from, std::size_t bytes) {
    if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

/// One span for each member in `in` or `out`, or a single one.
struct Shape {
    bool in_each = false, out_each = false;
    bool in_any = true, out_any = true;
};

Shape shape_of(const Call& call, int rank) {
    const bool root = call.root == rank;
    switch (call.kind) {
        case Kind::all_gather:
            return {.out_each = true};
        case Kind::gather:
            return {.out_each = root, .out_any = root};
        case Kind::scatter:
            return {.in_each = root, .in_any = root};
        case Kind::reduce_scatter:
            return {.in_each = true};
        case Kind::all_to_all:
            return {.in_each = true, .out_each = true};
        case Kind::reduce:
            return {.out_any = root};
        case Kind::broadcast:
            return {.in_any = root, .out_any = !root};
        case Kind::barrier:
            return {.in_any = false, .out_any = false};
        default:
            return {};
    }
}

[[noreturn]] void refuse_spans(const Call& call, const char* which, std::size_t given, std::size_t expected) {
    throw Error(ErrorCode::invalid_argument, std::string(name_of(call.kind)) + " was given " +
                                                 std::to_string(given) + " " + which + " arrays; it takes " +
                                                 std::to_string(expected) + " here.");
}

}  // namespace

void Rounds::check(const Call& call, const Members& members) {
    const auto n = static_cast<std::size_t>(members.n());
    if (call.root < 0 || call.root >= members.n())
        throw Error(ErrorCode::pe, std::string(name_of(call.kind)) + " with root " +
                                       std::to_string(call.root) + ": the group has the members 0 to " +
                                       std::to_string(n - 1) + ".");
    const Shape shape = shape_of(call, members.rank());
    const std::size_t ins = !shape.in_any ? 0 : shape.in_each ? n : 1;
    const std::size_t outs = !shape.out_any ? 0 : shape.out_each ? n : 1;
    if (call.in.size() != ins) refuse_spans(call, "input", call.in.size(), ins);
    if (call.out.size() != outs) refuse_spans(call, "output", call.out.size(), outs);
    const auto me = static_cast<std::size_t>(members.rank());
    const auto unequal = [&](std::size_t in, std::size_t out) {
        if (in == out) return;
        throw Error(ErrorCode::shape_mismatch, std::string(name_of(call.kind)) + ": the input has " +
                                                   std::to_string(in) +
                                                   " bytes, and its place in the output " +
                                                   std::to_string(out) + "; they must be equal.");
    };
    if (ins == 0 || outs == 0) return;
    unequal(call.in[shape.in_each ? me : 0].bytes, call.out[shape.out_each ? me : 0].bytes);
}

void Rounds::plan(Request& request) {
    request.number = number_++;
    const Call& call = request.call;
    const auto n = static_cast<std::size_t>(members_.n());
    const bool root = call.root == members_.rank();
    const std::size_t share = slot_bytes / n / line_of_area * line_of_area;  // bytes per member in a slot
    const auto first = [](const std::vector<Span>& in, const std::vector<Span>& out) {
        return !in.empty() ? in[0].bytes : out.empty() ? 0 : out[0].bytes;
    };
    request.piece = slot_bytes;
    request.sends = true;
    request.bytes = first(call.in, call.out);
    std::size_t longest = request.bytes;
    switch (call.kind) {
        case Kind::broadcast:
            request.sends = root;
            break;
        case Kind::reduce:
        case Kind::gather:
            request.sends = !root;
            break;
        case Kind::all_gather:
            longest = most_bytes(call.out);
            break;
        case Kind::scatter:
            request.sends = root;
            request.piece = share;
            break;
        case Kind::reduce_scatter:
            request.piece = share;
            request.bytes = total_bytes(call.in);
            longest = most_bytes(call.in);
            break;
        case Kind::all_to_all:
            request.piece = share;
            if (!call.equal_pieces) request.bytes = 0;
            longest = std::max(most_bytes(call.in), most_bytes(call.out));
            break;
        case Kind::all_reduce:
            request.sliced = n > 1 && request.bytes >= least_sliced_bytes;
            if (request.sliced) request.piece = share;
            break;
        default:
            break;
    }
    request.shared = crosses_once(request, longest);
    if (request.shared && request.sliced && Chain::suits(members_.far()->hosts(), request.folding)) {
        request.chain.emplace(members_.far()->hosts(), request.folding, request.bytes, members_.rank());
        request.sliced = false;
        request.rounds = request.chain->rounds();
        return;
    }
    request.rounds = request.sliced ? 2 * rounds_for(longest, share * n) : rounds_for(longest, request.piece);
    request.in_place = request.sends && in_place_.takes(call);
}

/// True if data for all members are passed on to one member of each other host.
bool Rounds::crosses_once(const Request& request, std::size_t longest) const {
    const Kind kind = request.call.kind;
    const bool is_for_all = kind == Kind::broadcast || kind == Kind::all_gather || request.sliced;
    return is_for_all && members_.far() &&
           longest >= (request.sliced ? least_shared_sum_bytes : least_shared_bytes) &&
           members_.far()->hosts().most_members() > 1;
}

bool Rounds::advance(Request& request) {
    if (difference_) return false;
    request.started = true;
    bool moved = false;
    for (;;) {
        const bool published = publish(request);
        const bool consumed = consume(request);
        if (!published && !consumed) break;
        moved = true;
    }
    if (request.in_place) drain(request);
    if (counts_by_host(request)) pass_host_consumed(request);
    if (is_complete(request)) {
        base_ += request.rounds;
        if (counts_by_host(request)) free_until_ = 0;  // it was found for this request's readers
    }
    return moved;
}

/// True if the member reads what this one sends.
bool Rounds::is_read_by(const Request& request, int member) const {
    const Kind kind = request.call.kind;
    if (kind == Kind::reduce || kind == Kind::gather) return member == request.call.root;
    return member != members_.rank();
}

bool Rounds::has_read_all(const Request& request, int member) {
    const Area& area = members_.area(member);
    return area && area.head().consumed.value.load(std::memory_order_acquire) >= base_ + request.rounds;
}

/// Notes when all readers have read the data, which the caller may then change.
void Rounds::drain(Request& request) {
    if (request.published < request.rounds || request.consumed < request.rounds) return;
    for (int i = 0; i < members_.n(); ++i)
        if (is_read_by(request, i) && !has_read_all(request, i)) return;
    request.drained = true;
}

// ---- this member's contribution

/// Returns the chunk that is sent in a round, and its state. Several chunks are sent unfolded, then the same
/// chunks folded.
Rounds::Step Rounds::step_of(const Request& request, std::uint32_t round) const {
    const std::uint32_t first = round / n_slots * chunks_together;
    const std::uint32_t together = std::min(chunks_together, request.rounds / 2 - first);
    const std::uint32_t within = round % n_slots;
    return {first + within % together, within >= together, together};
}

/// The second round of a chunk has the slice that this member folds in the first.
bool Rounds::may_publish(const Request& request) const {
    if (request.chain) return may_pass(request);
    if (!request.sliced) return true;
    const Step step = step_of(request, request.published);
    return !step.folded || request.consumed + step.apart > request.published;
}

/// True if the round has a piece for each member, rather than one for all.
bool Rounds::passes_pieces(const Request& request, std::uint32_t round) const {
    switch (request.call.kind) {
        case Kind::scatter:
        case Kind::reduce_scatter:
        case Kind::all_to_all:
            return true;
        default:
            return request.sliced && !step_of(request, round).folded;
    }
}

bool Rounds::publish(Request& request) {
    bool any = false;
    while (request.published < request.rounds && may_publish(request)) {
        const std::uint64_t round = base_ + request.published;
        if (!has_room(request, round)) break;
        const Area& area = members_.mine();
        SlotHeader& header = area.head().headers[round % n_slots];
        write_round(request, area, header, round);
        header.round.store(round + 1, std::memory_order_release);
        if (request.shared)
            pass_once(request, area, round);
        else if (members_.far())
            pass_round(request, area, round);
        if (!request.chain || request.published == 0 || is_read_here(request)) members_.ring_all();
        // A member without data announces its call, which the others compare.
        request.published = request.sends ? request.published + 1 : request.rounds;
        any = true;
    }
    return any;
}

void Rounds::write_round(Request& request, const Area& area, SlotHeader& header, std::uint64_t round) {
    const Call& call = request.call;
    const Announcement mine = request.announcement(request.bytes);
    header.bytes = mine.bytes;
    header.call = mine.call;
    header.elements = mine.elements;
    header.number = mine.number;
    header.rounds = request.rounds;
    header.in_place = request.in_place ? 1 : 0;
    if (members_.n() == 1 || !request.sends) return;
    if (request.chain) return write_in_chain(request, area, round);
    if (call.kind == Kind::all_to_all && request.published == 0)
        for (std::size_t i = 0; i < call.in.size(); ++i) area.sizes(round)[i] = call.in[i].bytes;
    if (request.in_place) {
        const bool pieces = passes_pieces(request, request.published);
        InPlace::announce(header, pieces ? call.in[0].data : shared_piece(request, request.published).data);
        return;
    }
    if (passes_pieces(request, request.published)) {
        write_pieces(request, area.slot(round), request.published);
        return;
    }
    const Span piece = shared_piece(request, request.published);
    const bool fits = piece.bytes <= inline_bytes && !request.shared;
    copy_bytes(fits ? reinterpret_cast<char*>(header.data) : area.slot(round), piece.data, piece.bytes);
}

void Rounds::write_pieces(const Request& request, char* slot, std::uint32_t round) const {
    for (int i = 0; i < members_.n(); ++i) {
        if (i == members_.rank()) continue;
        const Span piece = part(request, span_for(request.call.in, i), round, i);
        copy_bytes(slot + std::size_t(i) * request.piece, piece.data, piece.bytes);
    }
}

/// Returns this member's data of a round, all of which every reader reads.
Span Rounds::shared_piece(const Request& request, std::uint32_t round) const {
    const Call& call = request.call;
    if (!request.sliced && call.in.empty()) return {};
    return part(request, request.sliced ? call.out[0] : call.in[0], round, members_.rank());
}

/// Returns the part of a span that is sent in a round. For a sliced all_reduce it is the slice that `member`
/// folds.
Span Rounds::part(const Request& request, const Span& whole, std::uint32_t round, int member) const {
    if (!request.sliced) return part_of(whole, request.piece, round);
    const Slice of = slice(request, step_of(request, round).chunk, member);
    return {whole.data + of.at, of.bytes};
}

/// The part of a chunk that `member` folds.
Slice Rounds::slice(const Request& request, std::uint32_t chunk, int member) const {
    const auto n = static_cast<std::size_t>(members_.n());
    const std::size_t start = chunk * request.piece * n;
    const std::size_t length = std::min(request.piece * n, request.bytes - start);
    const std::size_t each = (length + n * line_of_area - 1) / (n * line_of_area) * line_of_area;
    const std::size_t at = std::min(each * std::size_t(member), length);
    return {start + at, std::min(each, length - at)};
}

// ---- reading the slots of other members

bool Rounds::reads(const Request& request, int member) const {
    if (member == members_.rank()) return false;
    if (request.chain) return reads_in_chain(request, member);
    switch (request.call.kind) {
        case Kind::broadcast:
        case Kind::scatter:
            return member == request.call.root;
        case Kind::reduce:
        case Kind::gather:
            return request.call.root == members_.rank();
        default:
            return true;
    }
}

/// True if the round needs the member: its data, or its call.
bool Rounds::awaits(const Request& request, int member) const {
    const bool compares = (members_.membership().is_team || request.chain) && request.consumed == 0;
    return (compares && member != members_.rank()) || reads(request, member);
}

bool Rounds::has_arrived(Request& request, int member) {
    const Area& area = members_.area(member);
    if (!area) return false;
    const std::uint64_t round = base_ + request.consumed;
    const SlotHeader& header = area.head().headers[round % n_slots];
    const std::uint64_t there = header.round.load(std::memory_order_acquire);
    const bool shared = reads_shared(request, member);
    if (shared && request.consumed > 0) return is_here(request, member);
    if (there < round + 1) return false;
    if (request.consumed == 0 || there != round + 1) compare(request, member, header);
    if (shared && !difference_) return is_here(request, member);
    if (request.call.kind == Kind::all_to_all && request.consumed == 0) {
        if (!request.call.equal_pieces) compare_sizes(request, member);
        request.rounds = std::max(request.rounds, header.rounds);
    }
    return true;
}

bool Rounds::consume(Request& request) {
    bool any = false;
    while (request.consumed < request.rounds) {
        if (request.consumed == 0) compare_first_round(request, request.arrived);
        for (; request.arrived < members_.n(); ++request.arrived) {
            if (!awaits(request, request.arrived)) continue;
            if (!has_arrived(request, request.arrived) || difference_) return any;
            if (request.chain) {
                copy_finished(request, request.arrived);
                continue;
            }
            const bool folded = request.sliced && step_of(request, request.consumed).folded;
            const bool copies = folded || !request.call.folds();
            if (copies && reads(request, request.arrived)) copy_from(request, request.arrived);
        }
        if (difference_) return any;
        // The data that this member sends is still needed until it is published.
        if (request.sends && request.published <= request.consumed) return any;
        if (request.consumed == 0) copy_own(request);
        fold_round(request);
        request.arrived = 0;
        ++request.consumed;
        any = true;
        members_.mine().head().consumed.value.store(base_ + request.consumed, std::memory_order_release);
        pass_consumed(request);
    }
    return any;
}

/// The `bytes` that another member sent to this one in a round.
const char* Rounds::data_of(const Request& request, int member, std::uint32_t round, std::size_t bytes) {
    const std::uint64_t number = base_ + round;
    if (members_.is_far(member) && passes_once(request, round)) return members_.shared(member).slot(number);
    const Area& area = members_.area(member);
    const SlotHeader& header = area.head().headers[number % n_slots];
    if (header.in_place != 0)
        return in_place_.announced(member, header) + offset_within(request, member, round);
    if (passes_pieces(request, round))
        return area.slot(number) + std::size_t(members_.rank()) * request.piece;
    return bytes <= inline_bytes && !request.shared ? reinterpret_cast<const char*>(header.data)
                                                    : area.slot(number);
}

/// The offset of this member's piece of a round in data that is read in place.
std::size_t Rounds::offset_within(const Request& request, int member, std::uint32_t round) const {
    if (!passes_pieces(request, round)) return 0;
    const auto me = std::size_t(members_.rank());
    if (request.sliced) return slice(request, step_of(request, round).chunk, members_.rank()).at;
    std::size_t before = me * (request.call.out.empty() ? 0 : request.call.out[0].bytes);
    if (request.call.kind == Kind::all_to_all) {
        const std::uint64_t* const sizes = members_.area(member).sizes(base_);
        before = std::accumulate(sizes, sizes + me, std::size_t{0});
    }
    return before + request.piece * round;
}

void Rounds::copy_from(const Request& request, int member) {
    const Call& call = request.call;
    if (call.out.empty()) return;
    const std::uint32_t round = request.consumed;
    const Span to = part(request, span_for(call.out, member), round, member);
    copy_bytes(to.data, data_of(request, member, round, to.bytes), to.bytes);
}

void Rounds::copy_own(const Request& request) const {
    const Call& call = request.call;
    if (call.folds() || call.in.empty() || call.out.empty()) return;
    const Span& from = span_for(call.in, members_.rank());
    copy_bytes(span_for(call.out, members_.rank()).data, from.data, from.bytes);
}

void Rounds::fold_round(const Request& request) {
    if (request.chain) return fold_in_chain(request);
    const Call& call = request.call;
    const std::uint32_t round = request.consumed;
    if (!call.folds() || call.out.empty() || (request.sliced && step_of(request, round).folded)) return;
    const int me = members_.rank();
    const Span mine = part(request, span_for(call.in, me), round, me);
    const Span to = part(request, call.out[0], round, me);
    const auto source = [&](int member) -> const char* {
        return member == me ? mine.data : data_of(request, member, round, to.bytes);
    };
    if (to.bytes != 0) request.folding.fold(members_.n(), source, to.bytes, to.data);
}

// ---- differences between members

namespace {

Announcement announced(const SlotHeader& header) {
    return {.call = header.call, .elements = header.elements, .number = header.number, .bytes = header.bytes};
}

}  // namespace

std::vector<Rounds::Form> Rounds::forms() {
    std::vector<Form> found;
    for (int i = 0; i < members_.n(); ++i) {
        const Area& area = members_.area(i);
        if (!area) continue;
        const SlotHeader& header = area.head().headers[base_ % n_slots];
        const bool has_come = header.round.load(std::memory_order_acquire) == base_ + 1;
        if (!has_come) continue;
        const Announcement call = announced(header);
        const auto form =
            std::find_if(found.begin(), found.end(), [&](const Form& one) { return one.call == call; });
        if (form == found.end())
            found.push_back({call, {i}});
        else
            form->members.push_back(i);
    }
    std::sort(found.begin(), found.end(), [](const Form& a, const Form& b) {
        return std::pair(a.members.size(), -a.members[0]) < std::pair(b.members.size(), -b.members[0]);
    });
    return found;
}

void Rounds::compare(const Request& request, int member, const SlotHeader& header) {
    const Call& call = request.call;
    const Announcement mine = request.announcement(
        call.kind == Kind::all_gather ? call.out[std::size_t(member)].bytes : request.bytes);
    const Announcement theirs = announced(header);
    if (theirs != mine) difference_ = Difference{member, mine, theirs};
}

/// Compares the calls so far, also of members whose data this one does not read. Every member
/// announces its call before it compares. So at least one of two members that differ finds the other's.
void Rounds::compare_first_round(const Request& request, int from) {
    for (int i = from; i < members_.n() && !difference_; ++i) {
        const Area& area = members_.area(i);
        if (i == members_.rank() || !area) continue;
        const SlotHeader& header = area.head().headers[base_ % n_slots];
        if (header.round.load(std::memory_order_acquire) == base_ + 1) compare(request, i, header);
    }
}

void Rounds::compare_sizes(const Request& request, int member) const {
    const std::uint64_t sent = members_.area(member).sizes(base_)[members_.rank()];
    const std::size_t expected = request.call.out[std::size_t(member)].bytes;
    if (sent == expected) return;
    throw Error(ErrorCode::collective_mismatch,
                members_.name(member) + " sends " + std::to_string(sent) + " bytes to " + members_.me() +
                    " in all_to_all, which expects " + std::to_string(expected) +
                    " from it; the sender's input sizes must match the receiver's output sizes.");
}

}  // namespace atl::requests
