// atoll.Context.
#include "calls/registry.hpp"
#include "calls/state.hpp"

#include <nanobind/stl/string.h>

#include <string>

namespace atl::python {
namespace {

const Context& of(const PyContext& context, const char* function) {
    current(function);
    if (context.destroyed || context.epoch != g.epoch)
        fail(ErrorCode::use_after_free,
             "%s(): this context was destroyed, or its job finalized; make another with atoll.Context().",
             function);
    return context.context;
}

void construct(PyContext* self, nb::object team, bool private_to_thread, bool serialized, bool nostore) {
    static const Spec spec{"Context"};
    const Team& of_team = team_of(spec, team.ptr());
    new (self) PyContext{of_team.create_context({private_to_thread, serialized, nostore}), g.epoch, false,
                         team.is_none() ? nb::borrow(g.world_object) : team};
}

std::string context_repr(const PyContext& context) {
    if (context.destroyed || context.epoch != g.epoch || g.job == nullptr)
        return "<atoll.Context, destroyed>";
    return "<atoll.Context of " + std::string(nb::str(context.team).c_str()) + ">";
}

void destroy(PyContext& context) {
    if (context.destroyed || g.job == nullptr || context.epoch != g.epoch) return;
    context.context.quiet();
    context.context = Context();
    context.destroyed = true;
}

}  // namespace

void register_context(nb::module_& module) {
    nb::class_<PyContext> context(
        module, "Context",
        R"(An ordering domain: fence and quiet of a context apply to its own operations only.

Pass it as ctx= to one-sided operations; PE numbers are then those of its team. Creating and
destroying a context is local. A `with` statement destroys it at its end, after a quiet.

Parameters
----------
team
    The PEs that it reaches; None: all.
private
    Only the creating thread uses it.
serialized
    Several threads use it, but never at the same time.
nostore
    Its fence and quiet need not order plain stores.

Raises
------
OutOfMemory, UseAfterFree

Notes
-----
Source: OpenSHMEM 1.6, section 9.4 (shmem_ctx_create).)");
    context.def("__init__", &construct, nb::arg("team") = nb::none(), nb::kw_only(),
                nb::arg("private") = false, nb::arg("serialized") = false, nb::arg("nostore") = false,
                nb::sig("def __init__(self, team: Team | None = None, *, private: bool = False, serialized: "
                        "bool = False, "
                        "nostore: bool = False) -> None"));
    context.def(
        "my_pe", [](const PyContext& c) { return of(c, "Context.my_pe").my_pe(); },
        "Return the number of this PE in the context's team. Local.\n\nReturns\n-------\nint");
    context.def(
        "n_pes", [](const PyContext& c) { return of(c, "Context.n_pes").n_pes(); },
        "Return the number of PEs of the context's team. Local.\n\nReturns\n-------\nint");
    context.def(
        "team",
        [](const PyContext& c) {
            of(c, "Context.team");
            return c.team;
        },
        nb::sig("def team(self) -> Team"),
        "Return the team from which the context was made. Local.\n\nReturns\n-------\nTeam\n    WORLD if "
        "none was passed.");
    context.def(
        "fence", [](const PyContext& c) { of(c, "Context.fence").fence(); },
        "Order the puts, atomics and signals of this context for each target PE, as atoll.fence. Local.");
    context.def(
        "quiet", [](const PyContext& c) { of(c, "Context.quiet").quiet(); },
        "Wait until all operations of this context are complete and visible, as atoll.quiet. Local.");
    context.def("__repr__", &context_repr);
    context.def("destroy", &destroy,
                "Quiet, then free the resources of the context. Local. A second call does nothing.");
    context.def(
        "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Context"));
    context.def(
        "__exit__", [](PyContext& c, nb::args) { destroy(c); },
        nb::sig("def __exit__(self, *args: object) -> None"));
    g.context_class = reinterpret_cast<PyTypeObject*>(context.ptr());
}

}  // namespace atl::python
