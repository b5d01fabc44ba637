#include "collective/slices.hpp"

#include <cstring>

#include "atoll/error.hpp"
#include "collective/arguments.hpp"

namespace atl::collective {

Slices::Slices(State& state, const core::Called& call, const SliceArguments& mine)
    : state_(state), call_(call), mine_(mine), fetch_(state, call) {
    const auto reachable = [&](const void* p) { return mine.bytes == 0 || state.reachable(p, mine.bytes); };
    const bool src_reachable = reachable(mine.src);
    const bool dst_reachable = !mine.wants_result || reachable(mine.dst);
    char* staging = src_reachable && dst_reachable ? nullptr : state.staging();
    unsigned staged = (src_reachable ? 0u : src_staged) | (dst_reachable ? 0u : dst_staged);
    if (staged != 0 && !staging) staged = no_room;
    // Other members write targets only after all have met, so the other half is free by then.
    const auto half = static_cast<std::size_t>(staged != 0 ? state.next_half() : 0);
    const auto location = [&](bool in_place, const void* data, std::size_t which, unsigned flags) {
        if (in_place) return ArrayLocation(state.offset_of(data, mine.bytes), flags);
        return ArrayLocation(staging ? state.offset_of(staging + which * half_bytes) : 0, flags);
    };
    my_line_.bytes = mine.bytes;
    my_line_.src = location(src_reachable, mine.src, half, staged | (mine.wants_result ? wanted : 0u));
    if (mine.wants_result) my_line_.dst = location(dst_reachable, mine.dst, 1 - half, 0);
    copy_in();
}

void Slices::copy_in() {
    if (!(my_line_.staged() & src_staged)) return;
    char* staging = state_.at(state_.my_pe(), my_line_.src.offset());
    if (piece_bytes() != 0)
        std::memcpy(staging, static_cast<const char*>(mine_.src) + piece_lo_, piece_bytes());
}

void Slices::copy_out() {
    if (!(my_line_.staged() & dst_staged) || piece_bytes() == 0) return;
    std::memcpy(static_cast<char*>(mine_.dst) + piece_lo_, state_.at(state_.my_pe(), my_line_.dst.offset()),
                piece_bytes());
}

void Slices::meet() {
    static_assert(sizeof(Line) <= core::exchange_bytes);
    state_.team().exchange(call_, &my_line_, sizeof my_line_);
    bool staged = false;
    for (int i = 0; i < state_.n_pes(); ++i) {
        check(i);
        staged |= line(i).staged() != 0;
    }
    if (!staged) piece_ = std::max<std::size_t>(mine_.bytes, 1);
}

/// Makes the checks of Sources::check: no member reads past a source or writes past a target.
void Slices::check(int member) const {
    const Line& theirs = line(member);
    if (theirs.bytes != mine_.bytes)
        throw_sizes(state_, call_.operation(), member, theirs.bytes, mine_.bytes);
    // Before the locations: a member without room sends no valid ones.
    if ((theirs.staged() & no_room) != 0) throw_no_room(state_, call_.operation(), member);
    const auto fits = [&](const ArrayLocation& location, unsigned staged) {
        const bool is_staged = (theirs.staged() & staged) != 0;
        return state_.is_in_slot(location.offset(), is_staged ? half_bytes : theirs.bytes);
    };
    if (!fits(theirs.src, src_staged) || (theirs.wants_result() && !fits(theirs.dst, dst_staged)))
        throw_other_call(state_, call_.operation(), member);
}

bool Slices::next_piece() {
    piece_lo_ += piece_;
    if (piece_lo_ >= mine_.bytes) return false;
    copy_in();
    state_.team().sync(call_);
    return true;
}

Slices::Range Slices::slice_of(int member) const {
    // Complete cache lines, so that no two PEs write to the same one.
    const auto n = static_cast<std::size_t>(state_.n_pes());
    const auto me = static_cast<std::size_t>(member);
    const std::size_t lines = (piece_bytes() + core::line_bytes - 1) / core::line_bytes;
    const std::size_t each = (lines + n - 1) / n * core::line_bytes;
    return {std::min(me * each, piece_bytes()), std::min((me + 1) * each, piece_bytes())};
}

void Slices::write(std::size_t at, const char* data, std::size_t bytes) {
    const bool is_large = mine_.bytes >= CopyChoices::others_from_bytes;
    for (int i = 0; i < state_.n_pes(); ++i) {
        if (state_.is_far(i) || !line(i).wants_result()) continue;
        if (is_large && i != state_.my_pe())  // the cache of PE i's core may hold these lines
            state_.copies().slices.copy(target(i) + at, data, bytes);
        else
            std::memcpy(target(i) + at, data, bytes);
    }
    if (state_.spread()) std::memcpy(out_.data() + (at - fetched_lo_), data, bytes);
}

std::size_t Slices::fetch_far(std::size_t lo, std::size_t hi) {
    const std::size_t each = fetched_bytes / static_cast<std::size_t>(state_.n_pes());
    const std::size_t most = std::max(each / core::line_bytes, std::size_t{1}) * core::line_bytes;
    const std::size_t bytes = std::min(hi - lo, most);
    fetched_lo_ = lo;
    pieces_.clear();
    for (int i = 0; i < state_.n_pes(); ++i)
        if (state_.is_far(i)) pieces_.push_back({i, source_offset(i) + lo, bytes});
    fetch_.for_me(pieces_);
    out_.resize(bytes);
    return bytes;
}

const char* Slices::fetched(int member) const {
    const auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), member,
                                        [](const FarPiece& p, int m) { return p.member < m; });
    return fetch_.at(static_cast<std::size_t>(piece - pieces_.begin()));
}

/// Returns the member of a part that receives the slice of `writer`, or -1 if no member wants the result.
/// Slices are assigned round-robin to the members that want it.
int Slices::receiver(int part, int writer) const {
    const core::Parts& parts = state_.spread()->parts();
    const auto wants = [&](int i) {
        return parts.part_of[static_cast<std::size_t>(i)] == part && line(i).wants_result();
    };
    int n = 0;
    for (int i = 0; i < state_.n_pes(); ++i) n += wants(i);
    if (n == 0) return -1;
    int turn = writer % n;
    for (int i = 0;; ++i)
        if (wants(i) && turn-- == 0) return i;
}

void Slices::send_far(std::size_t lo, std::size_t hi) {
    const core::Spread& spread = *state_.spread();
    spread.complete_on(out_, [&] {
        for (int part = 0; part < spread.parts().count(); ++part) {
            if (part == spread.parts().mine) continue;
            const int to = receiver(part, state_.my_pe());
            if (to >= 0)
                spread.put(to, target_offset(to) + lo, out_.data(), hi - lo, transport::Completion::at_quiet);
        }
    });
}

/// Copies results of other hosts from the member of this host that received them.
void Slices::pass_on() {
    if (!mine_.wants_result) return;
    for (int writer = 0; writer < state_.n_pes(); ++writer) {
        if (!state_.is_far(writer)) continue;
        const int got = receiver(state_.spread()->parts().mine, writer);
        const auto [lo, hi] = slice_of(writer);
        if (got != state_.my_pe() && lo < hi)
            std::memcpy(target(state_.my_pe()) + lo, target(got) + lo, hi - lo);
    }
}

void Slices::meet_after_piece() {
    state_.team().sync(call_);
    if (state_.spread()) [[unlikely]]
        pass_on();
}

/// Waits until other members have copied from this PE's target.
void Slices::leave() {
    if (state_.spread()) [[unlikely]]
        state_.spread()->local().sync(call_);
}

}  // namespace atl::collective
