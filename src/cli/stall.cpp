#include "cli/stall.hpp"

#include <algorithm>

namespace atl::cli {

double StallWatch::interval_s() const { return std::clamp(limit_s_ / 4, 0.1, 1.0); }

void StallWatch::restart(double now_s) {
    if (limit_s_ <= 0 || warned_) return;
    since_s_ = now_s;
    next_s_ = now_s + interval_s();
}

bool StallWatch::all_wait(const common::BoardView& board, std::uint64_t& picture) {
    bool any = false;
    picture = 0;
    for (int pe = 0; pe < board.n_pes(); ++pe) {
        const common::PeState state = board.state(pe);
        if (state == common::PeState::absent) return false;  // its program may be at work before init
        if (state != common::PeState::running) continue;
        const std::optional<std::uint64_t> mark = board.wait_mark(pe);
        if (!mark) return false;
        picture = (picture ^ *mark) * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(pe);
        any = true;
    }
    return any;
}

bool StallWatch::look(const common::BoardView& board, double now_s) {
    next_s_ = now_s + interval_s();
    std::uint64_t picture = 0;
    const bool waiting = all_wait(board, picture);
    if (!waiting || picture != picture_) {
        picture_ = picture;
        since_s_ = now_s;
        return false;
    }
    if (now_s - since_s_ < limit_s_) return false;
    warned_ = true;
    next_s_ = never;
    return true;
}

}  // namespace atl::cli
