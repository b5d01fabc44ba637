#include "collective/slices.hpp"

#include <cstring>

#include "atoll/error.hpp"

namespace atl::collective {

Slices::Slices(State& state, const char* operation, const SliceArguments& mine)
    : state_(state), operation_(operation), mine_(mine) {
    const bool src_reachable = state.reachable(mine.src, mine.bytes);
    const bool dst_reachable = !mine.wants_result || state.reachable(mine.dst, mine.bytes);
    char* staging = src_reachable && dst_reachable ? nullptr : state.staging();
    my_line_.staged = (src_reachable ? 0u : src_staged) | (dst_reachable ? 0u : dst_staged);
    if (my_line_.staged && !staging) my_line_.staged = no_room;
    // Targets are written by others only after all have met, so the half that is not next is free by then.
    const auto half = static_cast<std::size_t>(my_line_.staged ? state.next_half() : 0);
    my_line_.src = state.offset_of(src_reachable ? mine.src : staging + half * half_bytes);
    if (mine.wants_result)
        my_line_.dst = state.offset_of(dst_reachable ? mine.dst : staging + (1 - half) * half_bytes);
    copy_in();
}

void Slices::copy_in() {
    if (!(my_line_.staged & src_staged)) return;
    char* staging = state_.at(state_.my_pe(), my_line_.src);
    if (piece_bytes() != 0)
        std::memcpy(staging, static_cast<const char*>(mine_.src) + piece_lo_, piece_bytes());
}

void Slices::copy_out() {
    if (!(my_line_.staged & dst_staged) || piece_bytes() == 0) return;
    std::memcpy(static_cast<char*>(mine_.dst) + piece_lo_, state_.at(state_.my_pe(), my_line_.dst),
                piece_bytes());
}

void Slices::meet() {
    static_assert(sizeof(Line) <= core::exchange_bytes);
    state_.team().exchange(operation_, &my_line_, sizeof my_line_);
    bool staged = false;
    for (int i = 0; i < state_.n_pes(); ++i) {
        if (line(i).staged & no_room)
            throw Error(ErrorCode::out_of_memory, std::string(operation_) +
                                                      " found no room for staging in the arena of PE " +
                                                      std::to_string(state_.team().world_pe(i)) +
                                                      "; pass symmetric arrays, destroy teams that are no "
                                                      "longer used, or raise ATOLL_HEAP_SIZE.");
        staged |= line(i).staged != 0;
    }
    if (!staged) piece_ = std::max<std::size_t>(mine_.bytes, 1);
}

bool Slices::next_piece() {
    piece_lo_ += piece_;
    if (piece_lo_ >= mine_.bytes) return false;
    copy_in();
    state_.team().sync(operation_);
    return true;
}

Slices::Range Slices::my_slice() const {
    // Whole cache lines, so that no two PEs write to one.
    const auto n = static_cast<std::size_t>(state_.n_pes());
    const auto me = static_cast<std::size_t>(state_.my_pe());
    const std::size_t lines = (piece_bytes() + core::line_bytes - 1) / core::line_bytes;
    const std::size_t each = (lines + n - 1) / n * core::line_bytes;
    return {std::min(me * each, piece_bytes()), std::min((me + 1) * each, piece_bytes())};
}

}  // namespace atl::collective
