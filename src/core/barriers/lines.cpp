// Exchanges of members with a core each: every member writes its line, then reads all lines.
//
// A member's two lines alternate. Line e is reused at e + 2. Its owner gets there only after it has seen
// every member's flag for e + 1. A member sets that flag after it has finished with e. So no line is
// overwritten unread.
//
// Small collectives, which are one exchange: docs/measurements/2026-11-24-host-collectives.md.
#include "core/barriers/strategies.hpp"

namespace atl::core {

bool Meetings::Lines::exchange(Meetings& m, Arrival mine, Data data) {
    const std::uint32_t epoch = m.exchange_epoch_;
    m.exchanged_ = m.lines();
    m.write(m.exchanged_, data);
    ExchangeLine& line = m.member(m.my_pe_).exchange[epoch & 1];
    line.call = mine.fingerprint;
    set_flag(line.flag, epoch);
    bool alike = true;
    for (int k = 1; k < m.n_pes_; ++k) {
        const int i = m.my_pe_ + k < m.n_pes_ ? m.my_pe_ + k : m.my_pe_ + k - m.n_pes_;
        ExchangeLine& theirs = m.member(i).exchange[epoch & 1];
        m.wait_flag(mine.call, theirs.flag, epoch, i);
        alike &= theirs.call == mine.fingerprint;
    }
    return alike;
}

}  // namespace atl::core
