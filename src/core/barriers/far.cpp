// Meetings of a team over several hosts: Spread's parts meet by the transport.
//
// Barriers between hosts over UCX: docs/measurements/2026-11-22-ucx-tcp.md.
#include "core/barriers/strategies.hpp"

#include "core/team/spread.hpp"
#include "core/team/team_state.hpp"

namespace atl::core {

bool Meetings::Far::sync(Meetings& m, Arrival mine) {
    return m.team_.spread()->sync(mine.call, mine.fingerprint);
}

bool Meetings::Far::exchange(Meetings& m, Arrival mine, Data data) {
    Spread& spread = *m.team_.spread();
    const bool alike = spread.exchange(mine.call, mine.fingerprint, data.mine, data.bytes);
    m.exchanged_ = {spread.rows(), exchange_bytes};
    return alike;
}

constinit const Meetings::Strategy Meetings::far{"far", &Far::sync, &Far::exchange};

}  // namespace atl::core
