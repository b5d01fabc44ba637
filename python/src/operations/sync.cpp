// Barriers.
#include "calls/registry.hpp"
#include "gpu/stream_cache.hpp"

namespace atl::python {
namespace {

Spec barrier_all_spec, sync_all_spec, barrier_spec, sync_spec;

template <Spec& S, int StreamAt, bool Completes, int N> PyObject* meet(const Arguments<N>& a) {
    const Team& team = team_of(S, StreamAt == 0 ? nullptr : a[0]);
    if (given(a[StreamAt])) [[unlikely]]
        stream_team(team, stream_of(S, a[StreamAt], a.adopted)).sync();
    else if constexpr (Completes)
        team.barrier();
    else
        team.sync();
    return none();
}

const Function sync_functions[] = {
    {"barrier_all", entry<1, barrier_all_spec, meet<barrier_all_spec, 0, true, 1>>,
     "(*, stream: Stream = None) -> None",
     R"(Wait until all PEs have called it, and all their earlier puts are complete and visible.

Collective over all PEs. Completes the default context's puts, atomics and signals, and plain stores
into symmetric arrays. Other threads run meanwhile, and Ctrl-C interrupts a long wait. On a stream,
the PEs' streams synchronize and the host continues; earlier work of each stream is then visible to
all.

Raises
------
PeDied
Timeout
    ATOLL_WAIT_TIMEOUT has passed.
CollectiveMismatch
    The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

See Also
--------
sync_all : completes no puts
barrier : the PEs of a team

Notes
-----
Source: OpenSHMEM 1.6, section 9.11.

Examples
--------
>>> atoll.put(x, data, pe=right)
>>> atoll.barrier_all()
>>> float(x[7])  # from the left PE
7.0)"},
    {"sync_all", entry<1, sync_all_spec, meet<sync_all_spec, 0, false, 1>>,
     "(*, stream: Stream = None) -> None",
     R"(Wait until all PEs have called it; completes no puts.

Collective over all PEs. Each PE's plain stores before it are visible to all PEs after it.

Raises
------
CollectiveMismatch
    The PEs' calls differ; they are compared unless ATOLL_CHECK=none.
PeDied, Timeout

See Also
--------
barrier_all : completes puts, too

Notes
-----
Source: OpenSHMEM 1.6, section 9.11.)"},
    {"barrier", entry<2, barrier_spec, meet<barrier_spec, 1, true, 2>>,
     "(team: Team | None = None, *, stream: Stream = None) -> None",
     R"(A barrier_all among the PEs of a team: quiet on the team's default context, then sync.

Collective over the team.

Parameters
----------
team
    The PEs; None: all.

Raises
------
PeDied, UseAfterFree, Timeout
CollectiveMismatch
    The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

See Also
--------
barrier_all : all PEs
sync : completes no puts

Examples
--------
>>> atoll.barrier(atoll.SHARED)  # the PEs of this host)"},
    {"sync", entry<2, sync_spec, meet<sync_spec, 1, false, 2>>,
     "(team: Team | None = None, *, stream: Stream = None) -> None",
     R"(Wait until all PEs of a team have called it; completes no puts.

Collective over the team.

Parameters
----------
team
    The PEs; None: all.

Raises
------
PeDied, UseAfterFree, Timeout
CollectiveMismatch
    The PEs' calls differ; they are compared unless ATOLL_CHECK=none.

See Also
--------
barrier : completes puts, too
sync_all : all PEs

Notes
-----
Source: OpenSHMEM 1.6, section 9.11 (shmem_team_sync).)"},
};

}  // namespace

void register_sync(PyObject* module) { register_functions(module, sync_functions); }

}  // namespace atl::python
