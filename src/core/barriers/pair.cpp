// Meetings of two members with a core each, by one line that both write.
//
// Barriers of PEs with a core each: docs/measurements/2026-11-21-primitives.md#barriers. One line or two:
// docs/measurements/2026-11-24-constants.md.
#include "core/barriers/strategies.hpp"

#include "core/base/job_base.hpp"
#include "core/team/poll.hpp"
#include "core/team/team_state.hpp"

#include <algorithm>
#include <cstring>

namespace atl::core {

inline bool Meetings::Pair::meet(Meetings& m, PairLine& line, std::uint32_t epoch, Arrival mine) {
    PairHalf& ours = line.half[m.my_pe_];
    PairHalf& theirs = line.half[1 - m.my_pe_];
    const std::uint32_t parity = epoch & 1;
    ours.calls[parity] = mine.fingerprint;
    set_flag(ours.flag, epoch);
    if (!detail::reached(theirs.flag.value.load(std::memory_order_acquire), epoch))
        wait(m, theirs.flag, epoch, mine);
    return theirs.calls[parity] == mine.fingerprint;
}

void Meetings::Pair::wait(Meetings& m, detail::Flag& flag, std::uint32_t epoch, Arrival mine) {
    const common::Meter::Wait measured(m.job_.meter.get());
    const int pauses = m.job_.pace().pauses_of_a_line;
    const int first = std::min(m.job_.pace().spins, m.shares_core_ ? pauses : spins_before_core);
    if (!poll(flag, epoch, first, pauses) && !m.poll_for_peer(flag, epoch, 1 - m.my_pe_, pauses)) [[unlikely]]
        m.wait_slowly(mine.call, flag, epoch, 1 - m.my_pe_, nullptr);
}

bool Meetings::Pair::sync(Meetings& m, Arrival mine) {
    return meet(m, m.control_->pair_sync, m.sync_epoch_, mine);
}

/// Exchanges data between the two members of a team. Both use the same line for every size, so that a
/// difference in size is found.
bool Meetings::Pair::exchange(Meetings& m, Arrival mine, Data data) {
    const std::uint32_t parity = m.exchange_epoch_ & 1;
    PairLine& line = m.control_->pair_exchange;
    if (data.bytes <= pair_bytes) {
        clear_line_of_old(m, parity);
        m.exchanged_ = {line.half[0].data[parity], sizeof(PairHalf)};
    } else {
        m.line_is_old_[parity] = true;
        m.exchanged_ = m.lines();
    }
    m.write(m.exchanged_, data);
    return meet(m, line, m.exchange_epoch_, mine);
}

/// Clears what an earlier call left in this PE's line. A member of a pair that passes more, in another call,
/// reads this line. With ATOLL_CHECK=none only its contents show that the calls differ.
void Meetings::Pair::clear_line_of_old(Meetings& m, std::uint32_t parity) noexcept {
    if (!m.line_is_old_[parity]) [[likely]]
        return;
    std::memset(m.member(m.my_pe_).exchange[parity].data, 0, exchange_bytes);
    m.line_is_old_[parity] = false;
}

constinit const Meetings::Strategy Meetings::pair{"pair", &Pair::sync, &Pair::exchange};

}  // namespace atl::core
