// Barriers.
#include "registry.hpp"
#include "state.hpp"

namespace atl::python {
namespace {

Spec barrier_all_spec, sync_all_spec, barrier_spec, sync_spec;

PyObject* barrier_all_body(const Arguments<0>&) {
    team_of(barrier_all_spec, nullptr).barrier();
    return none();
}
PyObject* sync_all_body(const Arguments<0>&) {
    team_of(sync_all_spec, nullptr).sync();
    return none();
}
PyObject* barrier_body(const Arguments<1>& a) {
    team_of(barrier_spec, a[0]).barrier();
    return none();
}
PyObject* sync_body(const Arguments<1>& a) {
    team_of(sync_spec, a[0]).sync();
    return none();
}

const Function functions[] = {
    {"barrier_all", entry<0, barrier_all_spec, barrier_all_body>, &barrier_all_spec, "() -> None",
     R"(Wait until all PEs have come here and all that they put before is complete and visible.

Collective over all PEs. Completes the default context's puts, atomics and signals, and plain stores
into symmetric arrays. Other threads run meanwhile and Ctrl-C is answered if it takes long.
Raises PeDied, Timeout (ATOLL_WAIT_TIMEOUT), CollectiveMismatch (the PEs' calls are compared only with
ATOLL_CHECK=all). Source: OpenSHMEM 1.6, section 9.11.)"},
    {"sync_all", entry<0, sync_all_spec, sync_all_body>, &sync_all_spec, "() -> None",
     R"(Wait until all PEs have come here; completes no puts.

Collective over all PEs. Each PE's plain stores before it are visible to all after it.
Raises PeDied, Timeout, CollectiveMismatch (the PEs' calls are compared only with
ATOLL_CHECK=all). Source: OpenSHMEM 1.6, section 9.11.)"},
    {"barrier", entry<1, barrier_spec, barrier_body>, &barrier_spec, "(team: Team | None = None) -> None",
     R"(barrier_all among the PEs of a team: quiet on the team's default context, then sync.

Collective over the team (None: all PEs).
Raises PeDied, UseAfterFree, Timeout, CollectiveMismatch (the PEs' calls are compared only with
ATOLL_CHECK=all).)"},
    {"sync", entry<1, sync_spec, sync_body>, &sync_spec, "(team: Team | None = None) -> None",
     R"(Wait until all PEs of a team have come here; completes no puts.

Collective over the team (None: all PEs).
Raises PeDied, UseAfterFree, Timeout, CollectiveMismatch (the PEs' calls are compared only with
ATOLL_CHECK=all).
Source: OpenSHMEM 1.6, section 9.11 (shmem_team_sync).)"},
};

}  // namespace

void register_sync(PyObject* module) { register_functions(module, functions); }

}  // namespace atl::python
