#include "collective/sources.hpp"

#include <algorithm>
#include <cstring>

#include "atoll/detail/context_base.hpp"
#include "atoll/error.hpp"
#include "collective/arguments.hpp"

namespace atl::collective {

namespace {

/// The size of a piece of each of `blocks` blocks in half a staging buffer. It is a multiple of the cache
/// line, so of all elements too.
std::size_t staged_piece(std::size_t blocks) {
    return half_bytes / std::max<std::size_t>(blocks, 1) / core::line_bytes * core::line_bytes;
}

/// Calls `copy(address in the strided block, position in the packed one, bytes)` for each element or part of
/// one.
template <class Copy>
void for_elements(std::size_t element_bytes, std::ptrdiff_t stride, std::size_t lo, std::size_t length,
                  Copy copy) {
    for (std::size_t done = 0; done < length;) {
        const std::size_t inside = (lo + done) % element_bytes;
        const std::size_t bytes = std::min(element_bytes - inside, length - done);
        const auto element = static_cast<std::ptrdiff_t>((lo + done) / element_bytes);
        copy(element * stride * static_cast<std::ptrdiff_t>(element_bytes) +
                 static_cast<std::ptrdiff_t>(inside),
             done, bytes);
        done += bytes;
    }
}

}  // namespace

void gather_strided(char* dst, const char* block, std::size_t element_bytes, std::ptrdiff_t stride,
                    std::size_t lo, std::size_t length) {
    for_elements(element_bytes, stride, lo, length,
                 [&](std::ptrdiff_t at, std::size_t packed, std::size_t n) {
                     std::memcpy(dst + packed, block + at, n);
                 });
}

void scatter_strided(char* block, const char* src, std::size_t element_bytes, std::ptrdiff_t stride,
                     std::size_t lo, std::size_t length) {
    for_elements(element_bytes, stride, lo, length,
                 [&](std::ptrdiff_t at, std::size_t packed, std::size_t n) {
                     std::memcpy(block + at, src + packed, n);
                 });
}

Sources::Sources(State& state, const core::Called& call, const Source& mine, const Reads& reads)
    : state_(state),
      call_(call),
      mine_(mine),
      reads_(reads),
      fetch_(state, call),
      piece_(staged_piece(mine.blocks)) {
    my_line_.block_bytes = mine.block_bytes;
    if (reads_.count < 0) reads_.count = state.n_pes() - reads_.first;
    if (state.spread()) {
        const int members = reads_.most < 0 ? state.n_pes() : reads_.most;
        const std::size_t each = fetched_bytes / static_cast<std::size_t>(members);
        most_ = std::max(each / core::line_bytes, std::size_t{1}) * core::line_bytes;
        piece_ = std::min(piece_, most_);
    }
    if (!mine.contributes || mine.block_bytes == 0) {
        say(Kind::none, nullptr, 0);
    } else if (!mine.staged && state.reachable(mine.data, mine.blocks * mine.block_bytes)) {
        say(Kind::in_place, mine.data, 0);
    } else if (char* staging = state.staging()) {
        say(Kind::staged, staging, static_cast<unsigned>(state.next_half()));
        copy_in();
    } else {
        say(Kind::no_room, nullptr, 0);
    }
}

void Sources::say(Kind kind, const void* data, unsigned half) {
    my_line_.location = ArrayLocation(data ? state_.offset_of(data) : 0,
                                      static_cast<unsigned>(kind) | (mine_.blocks != 1 ? many_blocks : 0u) |
                                          (half != 0 ? second_half : 0u));
}

void Sources::copy_in() {
    char* half = state_.staging() + ((my_line_.half() + turn_) & 1) * half_bytes;
    if (lo_ >= mine_.block_bytes) return;
    const std::size_t bytes = std::min(piece_, mine_.block_bytes - lo_);
    for (std::size_t k = 0; k < mine_.blocks; ++k) {
        const char* block = static_cast<const char*>(mine_.data);
        if (mine_.element_bytes != 0) {
            block += static_cast<std::ptrdiff_t>(k * mine_.block_bytes) * mine_.stride;
            gather_strided(half + k * piece_, block, mine_.element_bytes, mine_.stride, lo_, bytes);
        } else {
            detail::copy_for_reader(half + k * piece_, block + k * mine_.block_bytes + lo_, bytes,
                                    state_.job().settings().nontemporal_bytes);
        }
    }
}

void Sources::meet() {
    static_assert(sizeof(Line) <= core::exchange_bytes);
    state_.team().exchange(call_, &my_line_, sizeof my_line_);
    bool staged = false;
    for (int i = 0; i < state_.n_pes(); ++i) {
        const Line& theirs = line(i);
        check(i);
        if (theirs.kind() == Kind::no_room) throw_no_room(state_, call_.operation(), i);
        staged |= theirs.kind() == Kind::staged;
        in_place_ |= theirs.kind() == Kind::in_place;
        if (theirs.kind() != Kind::none) end_ = std::max(end_, static_cast<std::size_t>(theirs.block_bytes));
    }
    if (!staged) piece_ = std::min(end_, most_);
}

/// Checks that all bytes of `at` are within a member's source, and all copies of a body within this PE's
/// arrays. This holds even if a member is in another call. All members throw, since all read the same lines.
void Sources::check(int member) const {
    const Line& theirs = line(member);
    const bool one_kind =
        (theirs.location.flags() & many_blocks) == (my_line_.location.flags() & many_blocks);
    if (!mine_.any_size && one_kind && theirs.block_bytes != mine_.block_bytes)
        throw_sizes(state_, call_.operation(), member, theirs.block_bytes, mine_.block_bytes);
    const bool read = member >= reads_.first && member < reads_.first + reads_.count;
    const bool has_none = theirs.kind() == Kind::none && theirs.block_bytes != 0;
    const std::size_t bytes = theirs.kind() == Kind::in_place
                                  ? times(theirs.block_bytes, static_cast<int>(mine_.blocks))
                              : theirs.kind() == Kind::staged ? 2 * half_bytes
                                                              : 0;
    if (!one_kind || (read && has_none) || !state_.is_in_slot(theirs.location.offset(), bytes))
        throw_other_call(state_, call_.operation(), member);
}

void Sources::fetch_far() {
    pieces_.clear();
    for (int i = reads_.first; i < reads_.first + reads_.count; ++i)
        if (state_.is_far(i)) pieces_.push_back({i, offset_of(i, reads_.block), length(i)});
    if (reads_.agreed)
        fetch_.for_all_here(pieces_);
    else
        fetch_.for_me(pieces_);
}

const char* Sources::fetched(int member) const {
    const auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), member,
                                        [](const FarPiece& p, int m) { return p.member < m; });
    return fetch_.at(static_cast<std::size_t>(piece - pieces_.begin()));
}

bool Sources::next_piece() {
    lo_ += piece_;
    if (lo_ >= end_) return false;
    ++turn_;
    if (my_line_.kind() == Kind::staged) {
        state_.next_half();
        copy_in();
    }
    state_.team().sync(call_);
    return true;
}

void Sources::finish() {
    if (in_place_) state_.team().sync(call_);
}

}  // namespace atl::collective
