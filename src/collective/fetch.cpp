#include "collective/fetch.hpp"

#include <algorithm>

namespace atl::collective {

namespace {

/// The smallest share for which a member fetches.
constexpr std::size_t least_share = 8 * 1024;

}  // namespace

std::size_t Fetch::assign_starts(const std::vector<FarPiece>& pieces) {
    starts_.clear();
    std::size_t end = 0;
    for (const FarPiece& piece : pieces) {
        starts_.push_back(end);
        end += core::line_up(piece.bytes);
    }
    return end;
}

/// Gets the part of `piece` in [lo, hi); the piece begins at `to`.
void Fetch::get(const FarPiece& piece, std::size_t lo, std::size_t hi, char* to) const {
    hi = std::min(hi, piece.bytes);
    if (lo < hi) state_.spread()->get(piece.member, piece.offset + lo, to + lo, hi - lo);
}

void Fetch::for_me(const std::vector<FarPiece>& pieces) {
    own_.resize(assign_starts(pieces));
    base_ = own_.data();
    if (pieces.empty()) return;
    state_.spread()->complete_on(own_, [&] {
        for (std::size_t i = 0; i < pieces.size(); ++i) get(pieces[i], 0, SIZE_MAX, own_.data() + starts_[i]);
    });
}

void Fetch::for_all_here(const std::vector<FarPiece>& pieces) {
    core::TeamState& near = state_.spread()->local();
    char* common = near.n_pes() > 1 ? state_.fetched() : nullptr;
    const std::size_t total = assign_starts(pieces);
    if (!common || total > fetched_bytes) return for_me(pieces);
    char* to = common + static_cast<std::size_t>(state_.next_fetch()) * fetched_bytes;
    base_ = to;
    const std::size_t share =
        core::line_up(std::max(total / static_cast<std::size_t>(near.n_pes()), least_share));
    const std::size_t lo = share * static_cast<std::size_t>(near.my_pe());
    for (std::size_t i = 0; i < pieces.size() && lo < total; ++i) {
        const std::size_t start = starts_[i];
        if (start + core::line_up(pieces[i].bytes) <= lo || start >= lo + share) continue;
        get(pieces[i], lo > start ? lo - start : 0, lo + share - start, to + start);
    }
    if (lo < total) state_.spread()->complete();
    near.sync(call_);
}

}  // namespace atl::collective
